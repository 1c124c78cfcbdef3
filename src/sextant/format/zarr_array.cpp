// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/zarr_array.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_field.hpp"
#include "sextant/core/json_value.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
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

struct NamedZarrCodec {
    std::string_view name;
    ZarrCodec codec;
};
constexpr std::array zarr_codecs{
    NamedZarrCodec{"zlib", ZarrCodec::zlib}, NamedZarrCodec{"gzip", ZarrCodec::gzip},
    NamedZarrCodec{"zstd", ZarrCodec::zstd}, NamedZarrCodec{"blosc", ZarrCodec::blosc}};
constexpr std::string_view known_codecs = "expected null, zlib, gzip, zstd or blosc";

/// Reads a type such as "<u2", "|b1" or ">f4".
void take_zarr_type(const JsonField& field, ZarrArray& array) {
    const std::string type = field.any_text("a string such as \"<u2\"");
    const bool plain = type.size() == 3 && type[2] >= '1' && type[2] <= '8';
    const int bytes = plain ? type[2] - '0' : 0;
    array.boolean = type == "|b1" || type == "<b1" || type == ">b1";
    const auto sample = array.boolean ? std::optional(Sample::u8)
                        : plain       ? sample_named(fmt::format("{}{}", type[1], 8 * bytes))
                                      : std::nullopt;
    const bool ordered =
        plain && (type[0] == '<' || type[0] == '>' || (type[0] == '|' && bytes == 1));
    if (!sample || !ordered)
        field.refuse("integers of 8 to 64 bits, floats of 16 to 64 bits or bools");
    array.sample = *sample;
    const bool big = type[0] == '>';
    array.swapped = bytes > 1 && big != (std::endian::native == std::endian::big);
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

std::optional<double> real_fill(const nlohmann::json& value) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (value == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    if (value == "Infinity")
        return infinity;
    if (value == "-Infinity")
        return -infinity;
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

template <class T>
std::optional<T> fill_from(const nlohmann::json& value) {
    if (value.is_null())
        return T{};
    if constexpr (std::is_integral_v<T>) {
        return whole_fill<T>(value);
    } else {
        const std::optional<double> number = real_fill(value);
        if (!number)
            return std::nullopt;
        if constexpr (std::is_same_v<T, Half>)
            return to_half(static_cast<float>(*number));
        else
            return static_cast<T>(*number);
    }
}

/// JsonField has no integers beyond 2⁶³, which 64-bit fill values may be.
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
    if (array.swapped)
        swap_bytes(array.sample, array.fill);
}

std::vector<std::int64_t> lengths_in(const JsonField& field) {
    std::vector<std::int64_t> lengths;
    for (const JsonField& length : field.items())
        lengths.push_back(length.integer(1, std::int64_t{1} << 60, "a length"));
    return lengths;
}

void take_lengths(const JsonField& fields, ZarrArray& array) {
    const JsonField shape = fields.at("shape"), chunks = fields.at("chunks");
    if (std::ssize(shape.items()) > most_zarr_axes)
        shape.refuse(fmt::format("at most {} axes", most_zarr_axes));
    array.sides = lengths_in(shape);
    if (array.sides.size() < 2)
        shape.refuse("two or more axes");
    chunks.require_size(array.sides.size(), "one length per axis");
    array.chunk = lengths_in(chunks);
    Bytes bytes = size_of(array.sample);
    for (const std::int64_t length : array.chunk) {
        if (length > most_chunk_bytes / bytes) {
            chunks.fail(fmt::format("are {}, expected chunks of at most {} bytes",
                                    fmt::join(array.chunk, "×"), most_chunk_bytes));
        }
        bytes *= length;
    }
}

/// Throws InvalidFile unless the data in Blosc containers are compressed by a supported codec.
void require_blosc_codec(const JsonField& compressor) {
    constexpr std::array<std::string_view, 5> names{"blosclz", "lz4", "lz4hc", "zstd", "zlib"};
    const auto codec = compressor.find("cname");
    const std::string stated = codec ? codec->any_text() : "lz4";
    if (std::find(names.begin(), names.end(), stated) == names.end())
        codec->refuse(fmt::format("one of {}", fmt::join(names, ", ")));
}

void take_codec(const JsonField& fields, ZarrArray& array) {
    if (const auto filters = fields.find("filters"); filters && !filters->is_null()) {
        for (const JsonField& filter : filters->items())
            filter.at("id").refuse("no filters, which are not supported");
    }
    const JsonField compressor = fields.at("compressor");
    if (compressor.is_null())
        return;
    const JsonField id = compressor.at("id");
    const std::string stated = id.any_text();
    const auto* const row = std::find_if(zarr_codecs.begin(), zarr_codecs.end(),
                                         [&](const auto& each) { return each.name == stated; });
    if (row == zarr_codecs.end())
        id.fail(fmt::format("is \"{}\", a codec that is not supported, {}", stated, known_codecs));
    array.codec = row->codec;
    if (array.codec == ZarrCodec::blosc)
        require_blosc_codec(compressor);
}

} // namespace

Bytes ZarrArray::chunk_bytes() const {
    Bytes bytes = size_of(sample);
    for (const std::int64_t length : chunk)
        bytes *= length;
    return bytes;
}

std::vector<Elements> ZarrArray::chunk_steps() const {
    std::vector<Elements> steps(chunk.size());
    Elements step = 1;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        const std::size_t axis = fortran ? i : chunk.size() - 1 - i;
        steps[axis] = step;
        step *= chunk[axis];
    }
    return steps;
}

std::string ZarrArray::chunk_name(std::span<const std::int64_t> position) const {
    return fmt::format("{}", fmt::join(position, std::string_view(&separator, 1)));
}

ZarrArray parse_zarr_array(std::string_view text, const std::string& path) {
    const JsonField fields = JsonField::parse(text, path);
    if (const JsonField version = fields.at("zarr_format"); version.integer(0, 1000) != 2)
        version.refuse("2, because only Zarr version 2 is supported");
    ZarrArray array;
    take_zarr_type(fields.at("dtype"), array);
    take_lengths(fields, array);
    take_codec(fields, array);
    constexpr std::array<std::string_view, 2> orders{"C", "F"}, separators{".", "/"};
    array.fortran = fields.at("order").one_of<int>(orders) == 1;
    if (const auto separator = fields.find("dimension_separator"))
        array.separator = separator->one_of<int>(separators) == 1 ? '/' : '.';
    fields.at("fill_value"); // must be present
    take_fill(parse_json(text, path).at("fill_value"), path, array);
    return array;
}

namespace {

/// The fill value of an array in its metadata.
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

} // namespace

std::string zarr_array_text(const ZarrArray& array) {
    if (array.fortran || array.boolean)
        throw std::logic_error("a Zarr array is written in C order, of integers or floats");
    const auto* const row = std::find_if(zarr_codecs.begin(), zarr_codecs.end(),
                                         [&](auto& each) { return each.codec == array.codec; });
    Json compressor;
    if (row != zarr_codecs.end())
        compressor = {{"id", row->name}, {"level", 1}};
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
               .text() +
           "\n";
}

} // namespace sextant::format
