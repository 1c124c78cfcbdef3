// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/zarr/zarr.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::format {

namespace {

constexpr std::int64_t most_zarr_axes = 32; // NumPy's limit
constexpr Bytes most_chunk_bytes = Bytes{1} << 31;
constexpr Elements most_chunks_per_shard = Elements{1} << 24; // the index then has 256 MiB
constexpr std::string_view known_types =
    "integers of 8 to 64 bits, floats of 16 to 64 bits or bools";
constexpr std::array<std::string_view, 2> separators{".", "/"};

struct NamedZarrCodec {
    std::string_view name;
    ZarrCodec codec;
    int version; ///< the only Zarr version with this codec; 0: both versions
};
constexpr std::array zarr_codecs{
    NamedZarrCodec{"zlib", ZarrCodec::zlib, 2}, NamedZarrCodec{"gzip", ZarrCodec::gzip, 0},
    NamedZarrCodec{"zstd", ZarrCodec::zstd, 0}, NamedZarrCodec{"blosc", ZarrCodec::blosc, 0},
    NamedZarrCodec{"crc32c", ZarrCodec::crc32c, 3}};

std::optional<ZarrCodec> codec_named(std::string_view name, int version) {
    for (const NamedZarrCodec& each : zarr_codecs) {
        if (each.name == name && (each.version == 0 || each.version == version))
            return each.codec;
    }
    return std::nullopt;
}

std::string_view name_of(ZarrCodec codec) {
    return std::ranges::find(zarr_codecs, codec, &NamedZarrCodec::codec)->name;
}

/// Throws InvalidFile unless Blosc containers are compressed by a supported codec.
void require_blosc_codec(const JsonField& blosc) {
    constexpr std::array<std::string_view, 5> names{"blosclz", "lz4", "lz4hc", "zstd", "zlib"};
    const auto codec = blosc.find("cname");
    if (codec && std::ranges::find(names, codec->any_text()) == names.end())
        codec->refuse(fmt::format("one of {}", fmt::join(names, ", ")));
}

template <class T>
std::optional<T> whole_fill(const nlohmann::json& value) {
    constexpr double exact = 0x1p53;
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    std::int64_t number = 0;
    if (value.is_boolean())
        number = value.get<bool>() ? 1 : 0;
    else if (value.is_number_integer())
        number = value.get<std::int64_t>();
    else if (value.is_number_float() && std::abs(value.get<double>()) < exact &&
             std::trunc(value.get<double>()) == value.get<double>())
        number = static_cast<std::int64_t>(value.get<double>());
    else
        return std::nullopt;
    return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
}

/// Parses a fill value of version 3 that is a string with the bits of a sample, such as
/// "0x7fc00000".
template <class T>
std::optional<T> hexadecimal_fill(const nlohmann::json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (!text.starts_with("0x") || text.size() != 2 + 2 * sizeof(T))
        return std::nullopt;
    std::uint64_t bits = 0;
    const char* const last = text.data() + text.size();
    if (std::from_chars(text.data() + 2, last, bits, 16).ptr != last)
        return std::nullopt;
    T sample{};
    // put_number() asserts that the machine is little-endian.
    std::memcpy(static_cast<void*>(&sample), &bits, sizeof(T));
    return sample;
}

template <class T>
std::optional<T> fill_from(const nlohmann::json& value) {
    if (value.is_null())
        return T{};
    if constexpr (std::is_integral_v<T>) {
        return whole_fill<T>(value);
    } else {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double number = std::numeric_limits<double>::quiet_NaN();
        if (value == "Infinity" || value == "-Infinity")
            number = value == "Infinity" ? infinity : -infinity;
        else if (value.is_number())
            number = value.get<double>();
        else if (value != "NaN")
            return hexadecimal_fill<T>(value);
        if constexpr (std::is_same_v<T, Half>)
            return to_half(static_cast<float>(number));
        else
            return static_cast<T>(number);
    }
}

/// Sets the fill value. Takes JSON rather than a JsonField, which cannot hold 64-bit fill values
/// beyond 2⁶³.
void take_fill(const nlohmann::json& value, const std::string& path, ZarrArray& array) {
    visit_sample(array.sample, [&]<class T>(std::type_identity<T>) {
        const std::optional<T> fill = fill_from<T>(value);
        if (!fill) {
            throw InvalidFile(path, fmt::format("fill_value is {}, expected null or a value of {}",
                                                shown(value), name(array.sample)));
        }
        array.fill.resize(sizeof(T));
        std::memcpy(array.fill.data(), &*fill, sizeof(T));
    });
}

std::vector<std::int64_t> lengths_in(const JsonField& field) {
    std::vector<std::int64_t> lengths;
    for (const JsonField& length : field.items())
        lengths.push_back(length.integer(1, std::int64_t{1} << 60, "a length"));
    return lengths;
}

void take_shape(const JsonField& shape, ZarrArray& array) {
    if (std::ssize(shape.items()) > most_zarr_axes)
        shape.refuse(fmt::format("at most {} axes", most_zarr_axes));
    array.sides = lengths_in(shape);
    if (array.sides.size() < 2)
        shape.refuse("two or more axes");
}

std::vector<std::int64_t> chunk_in(const JsonField& field, const ZarrArray& array) {
    field.require_size(array.sides.size(), "one length per axis");
    return lengths_in(field);
}

void take_chunk(const JsonField& chunks, ZarrArray& array) {
    array.chunk = chunk_in(chunks, array);
    Bytes bytes = size_of(array.sample);
    for (const std::int64_t length : array.chunk) {
        if (length > most_chunk_bytes / bytes) {
            chunks.fail(fmt::format("are {}, expected chunks of at most {} bytes",
                                    fmt::join(array.chunk, "×"), most_chunk_bytes));
        }
        bytes *= length;
    }
}

// Version 2.

/// Parses a type such as "<u2", "|b1" or ">f4".
void take_type_2(const JsonField& field, ZarrArray& array) {
    const std::string type = field.any_text("a string such as \"<u2\"");
    const bool plain = type.size() == 3 && type[2] >= '1' && type[2] <= '8';
    const int bytes = plain ? type[2] - '0' : 0;
    array.boolean = type == "|b1" || type == "<b1" || type == ">b1";
    const auto sample = array.boolean ? std::optional(Sample::u8)
                        : plain       ? sample_of(type[1], std::int64_t{8} * bytes)
                                      : std::nullopt;
    const bool ordered =
        plain && (type[0] == '<' || type[0] == '>' || (type[0] == '|' && bytes == 1));
    if (!sample || !ordered)
        field.refuse(std::string(known_types));
    array.sample = *sample;
    const bool big = type[0] == '>';
    array.swapped = bytes > 1 && big != (std::endian::native == std::endian::big);
}

void take_codec_2(const JsonField& fields, ZarrArray& array) {
    if (const auto filters = fields.find("filters"); filters && !filters->is_null()) {
        for (const JsonField& filter : filters->items())
            filter.at("id").refuse("no filters, which are not supported");
    }
    const JsonField compressor = fields.at("compressor");
    if (compressor.is_null())
        return;
    const JsonField id = compressor.at("id");
    const std::string stated = id.any_text();
    const auto codec = codec_named(stated, 2);
    if (!codec)
        id.fail(fmt::format("is \"{}\", a codec that is not supported, expected null, zlib, gzip, "
                            "zstd or blosc",
                            stated));
    array.codecs = {*codec};
    if (*codec == ZarrCodec::blosc)
        require_blosc_codec(compressor);
}

void take_version_2(const JsonField& fields, ZarrArray& array) {
    take_type_2(fields.at("dtype"), array);
    take_shape(fields.at("shape"), array);
    take_chunk(fields.at("chunks"), array);
    take_codec_2(fields, array);
    constexpr std::array<std::string_view, 2> orders{"C", "F"};
    if (fields.at("order").one_of<int>(orders) == 1) {
        for (std::size_t axis = array.sides.size(); axis-- > 0;)
            array.order.push_back(axis);
    }
    array.prefixed = false;
    const auto separator = fields.find("dimension_separator");
    array.separator = separator && separator->one_of<int>(separators) == 1 ? '/' : '.';
}

// Version 3.

/// An extension of version 3, such as a codec: an object with a name, or only the name.
struct Extension {
    JsonField field;
    std::string name;
    std::optional<JsonField> configuration;

    explicit Extension(const JsonField& of)
        : field(of), name(of.is_object() ? of.at("name").any_text() : of.any_text()) {
        if (of.is_object())
            configuration = of.find("configuration");
    }
    std::optional<JsonField> find(const std::string& option) const {
        return configuration ? configuration->find(option) : std::nullopt;
    }
    JsonField at(const std::string& option) const { return field.at("configuration").at(option); }
    bool may_be_ignored() const {
        const auto must = field.is_object() ? field.find("must_understand") : std::nullopt;
        return must && !must->boolean();
    }
    [[noreturn]] void refuse(const std::string& expected) const {
        const JsonField named = field.is_object() ? field.at("name") : field;
        named.fail(fmt::format("is \"{}\", which is not supported, expected {}",
                               printable(shortened(name)), expected));
    }
};

void take_type_3(const JsonField& field, ZarrArray& array) {
    const Extension type(field);
    array.boolean = type.name == "bool";
    std::optional<Sample> sample = array.boolean ? std::optional(Sample::u8) : std::nullopt;
    for (const std::string_view kind : {"uint", "int", "float"}) {
        if (type.name.starts_with(kind))
            sample = sample_named(
                fmt::format("{}{}", kind.front(), std::string_view(type.name).substr(kind.size())));
    }
    if (!sample)
        type.refuse(std::string(known_types));
    array.sample = *sample;
}

/// True if the byte order that the codec `bytes` states differs from the machine's.
bool is_swapped(const Extension& bytes, Bytes sample) {
    constexpr std::array<std::string_view, 2> orders{"little", "big"};
    if (sample == 1 && !bytes.find("endian"))
        return false;
    return (bytes.at("endian").one_of<int>(orders) == 1) !=
           (std::endian::native == std::endian::big);
}

/// Applies a codec `transpose` to the order of axes. The i-th encoded axis is the axis `order[i]`.
void take_transpose(const Extension& codec, ZarrArray& array) {
    const std::size_t axes = array.sides.size();
    const JsonField order = codec.at("order");
    std::vector<std::size_t> next, before = array.order;
    for (const JsonField& axis : order.items())
        next.push_back(static_cast<std::size_t>(axis.integer(0, std::ssize(array.sides) - 1)));
    std::vector<std::size_t> sorted = next, all(axes);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::ranges::sort(sorted);
    if (sorted != all)
        order.refuse(fmt::format("each of the axes 0 to {} once", axes - 1));
    if (before.empty())
        before = all;
    for (std::size_t i = 0; i < axes; ++i)
        next[i] = before[next[i]];
    array.order = next;
}

void take_codecs(const JsonField& codecs, ZarrArray& array, bool in_shard);

/// Reads the codec `sharding_indexed`: chunks become shards, which are divided into smaller chunks.
/// The index may only have the codecs `bytes` and crc32c, so that its size is known.
void take_shards(const Extension& codec, ZarrArray& array) {
    ZarrShards shards{array.chunk};
    const JsonField chunk = codec.at("chunk_shape");
    take_chunk(chunk, array);
    Elements all = 1;
    for (std::size_t axis = 0; axis < array.chunk.size(); ++axis) {
        if (shards.sides[axis] % array.chunk[axis] != 0)
            chunk.fail(fmt::format("is {}, expected divisors of the shard shape {}",
                                   fmt::join(array.chunk, "×"), fmt::join(shards.sides, "×")));
        const std::int64_t count = shards.sides[axis] / array.chunk[axis];
        if (count > most_chunks_per_shard / all)
            chunk.fail(fmt::format("is {}, expected at most {} chunks per shard of {}",
                                   fmt::join(array.chunk, "×"), most_chunks_per_shard,
                                   fmt::join(shards.sides, "×")));
        all *= count;
    }
    constexpr std::array<std::string_view, 2> places{"end", "start"};
    const auto place = codec.find("index_location");
    shards.index_at_start = place && place->one_of<int>(places) == 1;
    const JsonField codecs = codec.at("index_codecs");
    if (codecs.size() != 1 && codecs.size() != 2)
        codecs.refuse("bytes, or bytes and crc32c");
    const Extension bytes(codecs[0]);
    if (bytes.name != "bytes")
        bytes.refuse("bytes as the first codec of the index");
    shards.index_swapped = is_swapped(bytes, sizeof(std::uint64_t));
    shards.index_checked = codecs.size() == 2;
    if (shards.index_checked && Extension(codecs[1]).name != "crc32c")
        Extension(codecs[1]).refuse("crc32c as the second codec of the index");
    array.shards = std::move(shards);
    take_codecs(codec.at("codecs"), array, true);
}

/// Reads a codec after `bytes`. At most one codec may compress, so that all sizes are known.
void take_bytes_codec(const Extension& codec, ZarrArray& array) {
    const auto known = codec_named(codec.name, 3);
    if (!known && codec.may_be_ignored())
        return;
    if (!known)
        codec.refuse("gzip, zstd, blosc or crc32c");
    const auto compresses = [](ZarrCodec each) { return each != ZarrCodec::crc32c; };
    if (compresses(*known) && std::ranges::any_of(array.codecs, compresses))
        codec.refuse("at most one codec that compresses");
    if (*known == ZarrCodec::blosc && codec.configuration)
        require_blosc_codec(*codec.configuration);
    array.codecs.push_back(*known);
}

void take_codecs(const JsonField& codecs, ZarrArray& array, bool in_shard) {
    bool in_bytes = false;
    for (const JsonField& each : codecs.items()) {
        const Extension codec(each);
        const bool shards = codec.name == "sharding_indexed";
        if (array.shards && !in_shard)
            codec.refuse("no codec after sharding_indexed");
        if (in_bytes) {
            take_bytes_codec(codec, array);
        } else if (codec.name == "transpose") {
            take_transpose(codec, array);
        } else if (codec.name == "bytes") {
            array.swapped = is_swapped(codec, size_of(array.sample));
            in_bytes = true;
        } else if (shards && !in_shard) {
            if (!array.order.empty())
                codec.refuse("no codec before sharding_indexed");
            take_shards(codec, array);
        } else if (!codec.may_be_ignored()) {
            codec.refuse(in_shard ? "transpose or bytes" : "transpose, bytes or sharding_indexed");
        }
    }
    if (!in_bytes && !(array.shards && !in_shard))
        codecs.refuse("the codec bytes");
}

void take_names(const JsonField& fields, ZarrArray& array) {
    const auto names = fields.find("dimension_names");
    if (!names || names->is_null())
        return;
    names->require_size(array.sides.size(), "one name per axis");
    for (const JsonField& each : names->items())
        array.names.push_back(each.is_null() ? "" : each.any_text());
    if (std::ranges::count(array.names, "") > 0)
        array.names.clear();
}

void take_version_3(const JsonField& fields, ZarrArray& array) {
    constexpr std::array<std::string_view, 1> kinds{"array"};
    fields.at("node_type").one_of<int>(kinds);
    require_understood(fields);
    take_type_3(fields.at("data_type"), array);
    take_shape(fields.at("shape"), array);
    const Extension grid(fields.at("chunk_grid"));
    if (grid.name != "regular")
        grid.refuse("regular");
    const Extension keys(fields.at("chunk_key_encoding"));
    if (keys.name != "default" && keys.name != "v2")
        keys.refuse("default or v2");
    array.prefixed = keys.name == "default";
    const auto separator = keys.find("separator");
    const bool slash = separator ? separator->one_of<int>(separators) == 1 : array.prefixed;
    array.separator = slash ? '/' : '.';
    array.chunk = chunk_in(grid.at("chunk_shape"), array);
    take_codecs(fields.at("codecs"), array, false);
    if (!array.shards)
        take_chunk(grid.at("chunk_shape"), array);
    for (const JsonField& each : fields.items_or_none("storage_transformers")) {
        if (const Extension transformer(each); !transformer.may_be_ignored())
            transformer.refuse("no storage transformers");
    }
    take_names(fields, array);
}

} // namespace

void require_understood(const JsonField& node) {
    constexpr std::array<std::string_view, 12> known{"zarr_format",
                                                     "node_type",
                                                     "shape",
                                                     "data_type",
                                                     "chunk_grid",
                                                     "fill_value",
                                                     "codecs",
                                                     "attributes",
                                                     "chunk_key_encoding",
                                                     "storage_transformers",
                                                     "dimension_names",
                                                     "consolidated_metadata"};
    if (const JsonField version = node.at("zarr_format"); version.integer(0, 1000) != 3)
        version.refuse("3");
    for (const std::string& name : node.names()) {
        if (std::ranges::find(known, name) != known.end())
            continue;
        const JsonField field = node.at(name);
        const auto must = field.is_object() ? field.find("must_understand") : std::nullopt;
        if (!must || must->boolean())
            field.fail("is not supported, and may only be ignored if must_understand is false");
    }
}

Bytes ZarrArray::chunk_bytes() const {
    Bytes bytes = size_of(sample);
    for (const std::int64_t length : chunk)
        bytes *= length;
    return bytes;
}

std::vector<Elements> ZarrArray::chunk_steps() const {
    std::vector<Elements> steps(chunk.size());
    Elements step = 1;
    for (std::size_t i = chunk.size(); i-- > 0;) {
        const std::size_t axis = order.empty() ? i : order[i];
        steps[axis] = step;
        step *= chunk[axis];
    }
    return steps;
}

std::string ZarrArray::chunk_name(std::span<const std::int64_t> position) const {
    const std::string_view between(&separator, 1);
    return fmt::format("{}{}{}", prefixed ? "c" : "", prefixed ? between : "",
                       fmt::join(position, between));
}

ZarrShardChunk ZarrArray::in_shard(std::span<const std::int64_t> chunk_at) const {
    ZarrShardChunk place;
    for (std::size_t axis = 0; axis < chunk_at.size(); ++axis) {
        const std::int64_t count = shards->sides[axis] / chunk[axis];
        place.shard.push_back(chunk_at[axis] / count);
        place.number = place.number * static_cast<std::size_t>(count) +
                       static_cast<std::size_t>(chunk_at[axis] % count);
    }
    return place;
}

Elements ZarrArray::chunks_per_shard() const {
    Elements all = 1;
    for (std::size_t axis = 0; shards && axis < chunk.size(); ++axis)
        all *= shards->sides[axis] / chunk[axis];
    return all;
}

Bytes ZarrArray::index_bytes() const {
    constexpr Bytes checksum = 4;
    return chunks_per_shard() * static_cast<Bytes>(sizeof(ZarrRange)) +
           (shards && shards->index_checked ? checksum : 0);
}

ZarrArray parse_zarr_array(std::string_view text, const std::string& path) {
    const JsonField fields = JsonField::parse(text, path, {.keys = std::size_t{1} << 16});
    ZarrArray array;
    array.version = path.ends_with(".zarray") ? 2 : 3;
    if (const JsonField version = fields.at("zarr_format");
        version.integer(0, 1000) != array.version)
        version.refuse(std::to_string(array.version));
    if (array.version == 2)
        take_version_2(fields, array);
    else
        take_version_3(fields, array);
    fields.at("fill_value"); // the field is mandatory
    take_fill(parse_json(text, path, {.keys = std::size_t{1} << 16}).at("fill_value"), path, array);
    return array;
}

namespace {

/// Returns the fill value of an array as JSON.
Json fill_text(const ZarrArray& array) {
    if (array.fill.empty())
        return 0;
    return visit_sample(array.sample, [&]<class T>(std::type_identity<T>) -> Json {
        T fill{};
        std::memcpy(&fill, array.fill.data(), sizeof(T));
        if constexpr (std::is_unsigned_v<T>) {
            return Json(static_cast<std::uint64_t>(fill));
        } else if constexpr (std::is_integral_v<T>) {
            return Json(static_cast<std::int64_t>(fill));
        } else {
            double number = 0;
            if constexpr (std::is_same_v<T, Half>)
                number = static_cast<double>(to_float(fill));
            else
                number = static_cast<double>(fill);
            if (std::isnan(number))
                return Json("NaN");
            if (std::isinf(number))
                return Json(number > 0 ? "Infinity" : "-Infinity");
            return number == 0 ? Json(0) : Json(number);
        }
    });
}

std::string text_2(const ZarrArray& array) {
    Json compressor;
    if (!array.codecs.empty())
        compressor = {{"id", name_of(array.codecs.front())}, {"level", 1}};
    const Bytes bytes = size_of(array.sample);
    const bool big = array.swapped != (std::endian::native == std::endian::big);
    const char* const order = bytes == 1 ? "|" : big ? ">" : "<";
    return Json{{"zarr_format", 2},
                {"shape", array.sides},
                {"chunks", array.chunk},
                {"dtype", fmt::format("{}{}{}", order, name(array.sample).front(), bytes)},
                {"compressor", compressor},
                {"fill_value", fill_text(array)},
                {"order", "C"},
                {"filters", Json()},
                {"dimension_separator", std::string_view(&array.separator, 1)}}
        .text();
}

Json extension(std::string_view name, Json configuration) {
    return {{"name", name}, {"configuration", std::move(configuration)}};
}

std::string text_3(const ZarrArray& array) {
    const bool big = array.swapped != (std::endian::native == std::endian::big);
    const auto bytes_in = [](bool order_is_big) {
        return extension("bytes", {{"endian", order_is_big ? "big" : "little"}});
    };
    Json codecs =
        Json::array({size_of(array.sample) == 1 ? Json{{"name", "bytes"}} : bytes_in(big)});
    for (const ZarrCodec codec : array.codecs)
        codecs.add(codec == ZarrCodec::zstd ? extension("zstd", {{"level", 1}, {"checksum", false}})
                                            : Json{{"name", name_of(codec)}});
    if (array.shards)
        codecs = Json::array(
            {extension("sharding_indexed",
                       {{"chunk_shape", array.chunk},
                        {"codecs", codecs},
                        {"index_codecs", Json::array({bytes_in(false), Json{{"name", "crc32c"}}})},
                        {"index_location", "end"}})});
    Json all{{"zarr_format", 3},
             {"node_type", "array"},
             {"shape", array.sides},
             {"data_type", long_name(array.sample)},
             {"chunk_grid", extension("regular", {{"chunk_shape", array.file_sides()}})},
             {"chunk_key_encoding",
              extension("default", {{"separator", std::string_view(&array.separator, 1)}})},
             {"fill_value", fill_text(array)},
             {"codecs", codecs},
             {"attributes", Json::object()}};
    if (!array.names.empty())
        all.set("dimension_names", array.names);
    return all.text();
}

} // namespace

std::string zarr_array_text(const ZarrArray& array) {
    if (!array.order.empty() || array.boolean)
        throw std::logic_error("a Zarr array is written in C order, of integers or floats");
    return (array.version == 2 ? text_2(array) : text_3(array)) + "\n";
}

} // namespace sextant::format
