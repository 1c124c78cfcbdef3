// SPDX-License-Identifier: BSD-3-Clause
// Reading arrays of Zarr version 3 that are written by hand, also damaged ones, and what is
// written.
#include "sextant/format/catalogue.hpp"
#include "sextant/format/zarr/zarr.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/zarr3_files.hpp"
#include <gmock/gmock.h>
#include <sys/resource.h>

namespace sextant::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Zarr3 : public testing::Test {
  protected:
    std::unique_ptr<FrameSource> open(const Zarr3Pattern& array) const {
        fs::remove_all(path);
        write_zarr3(path, array);
        return format::open_frames(path);
    }
    /// The message of reading all frames, without the path of the store.
    std::string refusal(const format::SourceOptions& options = {}) const {
        const std::string message = failure([&] {
            const auto source = format::open_frames(path, options);
            for (std::int64_t frame = 0; frame < std::min<std::int64_t>(9, source->header().frames);
                 ++frame)
                read_frame(*source, frame);
        });
        return message.starts_with(path) ? message.substr(path.size()) : message;
    }
    /// The message if a part of the metadata of an array is replaced.
    std::string with(const std::string& part, const std::string& other,
                     const Zarr3Pattern& array = {}) const {
        std::string text = array.text();
        const std::size_t at = text.find(part);
        if (at == std::string::npos)
            throw std::logic_error("the metadata have no " + part);
        put_file(path + "/zarr.json", text.replace(at, part.size(), other));
        return refusal();
    }
    void refuses(const std::string& part, const std::string& other, const std::string& text,
                 const Zarr3Pattern& array = {}) const {
        EXPECT_THAT(with(part, other, array), HasSubstr(text)) << part;
    }

    TemporaryFolder folder;
    std::string path = folder.path("a.zarr");
};

TEST_F(Zarr3, of_bools_is_read_as_zeros_and_ones) {
    const Zarr3Pattern bools{.sides = {2, 3}, .chunk = {2, 2}, .type = "bool", .fill = "true"};
    put_file(path + "/zarr.json", bools.text());
    put_file(path + "/c/0/0", std::string("\0\1\2\xff", 4));
    EXPECT_EQ(read_frame(*format::open_frames(path), 0), (std::vector<float>{0, 1, 1, 1, 1, 1}));
    EXPECT_EQ(
        with(R"({"name": "bytes", "configuration": {"endian": "little"}})", "\"bytes\"", bools),
        "nothing was thrown"); // a codec without a configuration may be its name
}

TEST_F(Zarr3, of_every_codec_order_and_kind_of_shards_is_read) {
    std::vector<std::optional<Zarr3Shards>> kinds{std::nullopt};
    for (const std::string place : {"start", "end"})
        for (const std::string order : {"little", "big"})
            for (const bool checked : {true, false})
                kinds.push_back(Zarr3Shards{{4, 8, 10}, place, order, checked});
    kinds.push_back(Zarr3Shards{{2, 4, 5}}); // one chunk each
    for (const ZarrCompressor& compressor : zarr3_compressors()) {
        for (const std::vector<std::int64_t>& order :
             {std::vector<std::int64_t>{}, {2, 1, 0}, {1, 2, 0}}) {
            for (const auto& shards : kinds) {
                const Zarr3Pattern array{
                    .endian = "big", .order = order, .compressor = compressor, .shards = shards};
                EXPECT_TRUE(holds_pattern(*open(array))) << array.text();
            }
        }
    }
}

TEST_F(Zarr3, has_chunks_of_every_name) {
    const auto reads = [&](const std::string& keys, const std::string& prefix,
                           const std::string& separator) {
        EXPECT_TRUE(holds_pattern(*open({.keys = keys, .prefix = prefix, .separator = separator})))
            << keys;
    };
    const std::string dot = R"(, "configuration": {"separator": "."}})";
    const std::string slash = R"(, "configuration": {"separator": "/"}})";
    reads("\"default\"", "c/", "/");
    reads(R"({"name": "default")" + slash, "c/", "/");
    reads(R"({"name": "default")" + dot, "c.", ".");
    reads(R"({"name": "v2"})", "", ".");
    reads(R"({"name": "v2")" + dot, "", ".");
    reads(R"({"name": "v2")" + slash, "", "/");
    refuses(R"({"name": "default"})", R"({"name": "hashed"})",
            "chunk_key_encoding.name is \"hashed\", which is not supported");
}

TEST_F(Zarr3, composes_transposes) {
    Zarr3Pattern array{.order = {1, 2, 0}}; // [2, 0, 1] after [2, 0, 1]
    fs::remove_all(path);
    write_zarr3(path, array);
    std::string text = array.text();
    const std::string once = R"({"name": "transpose", "configuration": {"order": [2, 0, 1]}}, )";
    const std::size_t at = text.find(R"({"name": "transpose")");
    text.replace(at, once.size(), once + once);
    put_file(path + "/zarr.json", text);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    for (const std::string order : {"[0, 1]", "[0, 1, 1]", "[0, 1, 3]", "[0, 1, -1]", "\"C\""})
        EXPECT_THAT(with("[1, 2, 0]", order, array), HasSubstr("configuration.order")) << order;
}

TEST_F(Zarr3, fill_values_have_all_their_forms) {
    const auto fill_of = [&](const std::string& type, const std::string& fill) {
        const auto source =
            open({.type = type, .fill = fill, .stored = [](auto&) { return false; }});
        EXPECT_EQ(remarks(*source), "has no chunks: all samples have the fill value");
        return read_frame(*source, 2).back();
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(fill_of("uint16", "65535"), 65535);
    EXPECT_EQ(fill_of("int64", "-9223372036854775808"), -0x1p63F);
    EXPECT_EQ(fill_of("uint64", "18446744073709551615"), 0x1p64F);
    EXPECT_EQ(fill_of("float16", "-1.5"), -1.5F);
    EXPECT_TRUE(std::isnan(fill_of("float64", "\"NaN\"")));
    EXPECT_EQ(fill_of("float32", "\"Infinity\""), infinity);
    EXPECT_EQ(fill_of("float16", "\"-Infinity\""), -infinity);
    EXPECT_TRUE(std::isnan(fill_of("float32", "\"0x7fc00000\"")));
    EXPECT_EQ(fill_of("float32", "\"0x40490fdb\""), 3.14159274F);
    EXPECT_EQ(fill_of("float64", "\"0xC000000000000000\""), -2);
    EXPECT_EQ(fill_of("float16", "\"0x3c00\""), 1);
    EXPECT_EQ(fill_of("bool", "true"), 1);
    for (const std::string fill :
         {"\"0x7fc0\"", "\"0x7fc00000z\"", "\"0xg0000000\"", "\"nan\"", "[1]", "\"0x-0000001\""}) {
        put_file(path + "/zarr.json", Zarr3Pattern{.type = "float32", .fill = fill}.text());
        EXPECT_THAT(refusal(), HasSubstr("/zarr.json: fill_value is ")) << fill;
    }
}

TEST_F(Zarr3, of_shards_reads_only_the_chunks_that_rows_need) {
    const auto few = [](const std::string& chunk) { return chunk == "1.1.0" || chunk == "0.0.1"; };
    const Zarr3Pattern array{
        .sides = {4, 8, 10}, .fill = "7", .shards = Zarr3Shards{}, .stored = few};
    const auto source = open(array);
    EXPECT_LT(fs::file_size(path + "/c/0/0/0"), 400U);
    for (std::int64_t frame = 0; frame < 4; ++frame) {
        std::vector<float> expected = pattern_frame<float>(frame, {10, 8});
        for (std::int64_t y = 0; y < 8; ++y)
            for (std::int64_t x = 0; x < 10; ++x)
                if (!few(fmt::format("{}.{}.{}", frame / 2, y / 4, x / 5)))
                    expected[static_cast<std::size_t>(y * 10 + x)] = 7;
        EXPECT_EQ(read_frame(*source, frame), expected) << frame;
    }
    const auto blocks = format::open_array(path, {}, 1 << 20);
    EXPECT_TRUE(blocks->is_fill({{0, 4, 0}, {2, 4, 10}}));
    EXPECT_FALSE(blocks->is_fill({{2, 4, 0}, {1, 1, 1}}));
    // A chunk that is not needed may be damaged.
    std::string bytes = content(path + "/c/0/0/0");
    open({.sides = {4, 8, 10}, .compressor = zarr3_compressors()[4], .shards = Zarr3Shards{}});
    bytes = content(path + "/c/0/0/0");
    bytes[1] = static_cast<char>(~bytes[1]);
    put_file(path + "/c/0/0/0", bytes);
    EXPECT_EQ(read_frame(*format::open_frames(path), 2), pattern_frame<float>(2, {10, 8}));
    EXPECT_THAT(refusal(), testing::StartsWith("/c/0/0/0, chunk 0: is damaged: its checksum "));
}

TEST_F(Zarr3, of_damaged_shards_is_refused) {
    const Zarr3Pattern array{
        .sides = {4, 8, 10}, .compressor = zarr3_compressors()[2], .shards = Zarr3Shards{}};
    open(array);
    const std::string file = path + "/c/0/0/0", whole = content(file);
    for (std::size_t length = 0; length < whole.size(); length += 3) {
        put_file(file, whole.substr(0, length));
        EXPECT_THAT(refusal(), HasSubstr("/c/0/0/0")) << length;
    }
    put_file(file, whole.substr(0, 100));
    EXPECT_EQ(refusal(),
              "/c/0/0/0: has 100 bytes, expected at least 132 for the index of 8 chunks");
    // Positions outside the file, with a valid checksum or none.
    const auto with_index = [&](std::size_t at, std::uint64_t value) {
        std::string index = whole.substr(whole.size() - 132, 128);
        index.replace(at, 8, Bytewise().put<std::uint64_t>(value).bytes());
        put_file(file, whole.substr(0, whole.size() - 132) + index + checksum(index));
        return refusal();
    };
    for (const std::uint64_t far :
         {whole.size() + 1, std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{1}}) {
        EXPECT_THAT(with_index(16, far), HasSubstr("but its index states ")) << far;
        EXPECT_THAT(with_index(24, far), HasSubstr("but its index states ")) << far;
    }
    EXPECT_THAT(with_index(16, ~std::uint64_t{0}), HasSubstr("but its index states "));
    EXPECT_THAT(with_index(24, 0), HasSubstr("/c/0/0/0, chunk 1: "));
    EXPECT_THAT(with_index(24, whole.size() - 200), HasSubstr("/c/0/0/0, chunk 1: "));
    std::string bytes = whole;
    bytes[bytes.size() - 60] ^= 1;
    put_file(file, bytes);
    EXPECT_THAT(refusal(),
                testing::StartsWith("/c/0/0/0, the index: is damaged: its checksum (crc32c) is "));
    fs::remove(file);
    fs::create_symlink(path + "/zarr.json", file);
    EXPECT_THAT(refusal(), HasSubstr("/c/0/0/0"));
    fs::remove(file);
    put_file(folder.path("secret"), whole);
    fs::create_symlink(folder.path("secret"), file);
    EXPECT_THAT(refusal(), HasSubstr("/c/0/0/0: is stored outside its Zarr store"));
    EXPECT_EQ(refusal({.allow_external = true}), "nothing was thrown");
}

TEST_F(Zarr3, with_fields_that_are_wrong_or_unknown_is_refused) {
    write_zarr3(path, {});
    for (const std::string field : {"zarr_format", "node_type", "shape", "data_type", "chunk_grid",
                                    "chunk_key_encoding", "fill_value", "codecs"})
        refuses("\"" + field + "\"", R"("x": {"must_understand": false}, "attributes")",
                "/zarr.json: " + field + " is missing");
    const Zarr3Pattern sharded{.shards = Zarr3Shards{}};
    const auto refuses_sharded = [&](const std::string& part, const std::string& other,
                                     const std::string& text) {
        refuses(part, other, text, sharded);
    };
    refuses("\"array\"", "\"table\"", "node_type is \"table\", expected");
    for (const std::string type : {"complex64", "r16", "uint", "int24", "float8", "bfloat16",
                                   "string", "numpy.datetime64", "uint16x"})
        EXPECT_THAT(with("uint16", type),
                    HasSubstr("data_type is \"" + type + "\", which is not supported, expected "))
            << type;
    refuses("[3, 7, 13]", "[3, 0, 13]", "shape[1] is 0");
    refuses("[3, 7, 13]", "[91]", "expected two or more axes");
    refuses("regular", "rectangular", "chunk_grid.name is \"rectangular\"");
    refuses("[2, 4, 5]", "[2, 4]", "expected one length per axis");
    refuses("[2, 4, 5]", "[2048, 2048, 2048]", "at most 2147483648 bytes");
    refuses("\"little\"", "\"middle\"", "endian is \"middle\"");
    refuses(R"(, "configuration": {"endian": "little"})", "", "codecs[0].configuration is missing");
    refuses(R"("codecs": [{"name": "bytes")", R"("codecs": [{"name": "vlen-utf8")",
            "codecs[0].name is \"vlen-utf8\", which is not supported, expected");
    refuses("\"little\"}}", "\"little\"}}, {\"name\": \"zfp\"}",
            "codecs[1].name is \"zfp\", which is not supported, expected gzip, ");
    refuses("\"little\"}}", "\"little\"}}, \"gzip\", \"zstd\"",
            "codecs[2] is \"zstd\", which is not supported, expected at most one codec");
    refuses("\"little\"}}",
            R"("little"}}, {"name": "blosc", "configuration": {"cname": "snappy"}})",
            "cname is \"snappy\", expected one of blosclz");
    refuses("\"codecs\": [", "\"codecs\": 7, \"attributes\": [", "codecs is 7");
    EXPECT_EQ(with("}}]}", R"(}}], "storage_transformers": []})"), "nothing was thrown");
    refuses("}}]}", R"(}}], "storage_transformers": [{"name": "a"}]})",
            "storage_transformers[0].name is \"a\", which is not supported");
    refuses("}}]}", R"(}}], "later": {"name": "a"}})",
            "/zarr.json: later is not supported, and may only be ignored if");
    EXPECT_EQ(with("}}]}", R"(}}], "later": {"must_understand": false}})"), "nothing was thrown");
    refuses("}}]}", R"(}}], "dimension_names": ["y", "x"]})",
            "dimension_names is an array of 2, expected one name per axis");
    // Shards.
    refuses_sharded("[2, 4, 5]", "[2, 3, 5]", "expected divisors of the shard shape");
    refuses_sharded("[4, 8, 10]", "[4, 80000, 100000]",
                    "expected at most 16777216 chunks per shard");
    refuses_sharded("\"end\"", "\"middle\"", "index_location is \"middle\"");
    refuses_sharded(R"({"name": "crc32c"}])", R"({"name": "gzip"}])",
                    "index_codecs[1].name is \"gzip\", which is not supported");
    refuses_sharded(R"("index_codecs": [)", R"("index_codecs": [], "x": [)",
                    "index_codecs is an array of 0, expected bytes, or bytes and crc32c");
    refuses_sharded(R"("index_location": "end"}}])",
                    R"("index_location": "end"}}, {"name": "gzip"}])",
                    "codecs[1].name is \"gzip\", which is not supported, expected no codec "
                    "after sharding_indexed");
    const std::string inner = R"("codecs": [{"name": "bytes")";
    refuses_sharded(inner, R"("codecs": [{"name": "sharding_indexed")",
                    "codecs[0].name is \"sharding_indexed\", which is not supported");
}

TEST_F(Zarr3, cannot_demand_memory_that_its_files_do_not_justify) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    Zarr3Pattern array{
        .sides = {2, 9, 9}, .chunk = {2, 32768, 16384}, .compressor = zarr3_compressors()[2]};
    put_file(path + "/zarr.json", array.text());
    put_file(path + "/c/0/0/0", by_zstd(std::string(1000, 'a')));
    EXPECT_THAT(refusal(), HasSubstr("too few for the 2147483648 bytes"));
    // A shard of 2²⁴ chunks, whose index has 256 MiB.
    array.chunk = {1, 4, 4};
    array.shards = Zarr3Shards{{1, 16384, 16384}};
    put_file(path + "/zarr.json", array.text());
    EXPECT_THAT(refusal(), HasSubstr("expected at least 268435460 for the index of 16777216"));
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 1 << 17);
}

TEST_F(Zarr3, names_axes_by_its_dimensions_and_by_ome) {
    write_zarr3(path, {.more = R"(, "dimension_names": ["z", "y", "x"])"});
    EXPECT_THAT(format::open_array(path, {}, 0)->header().names,
                testing::ElementsAre("z", "y", "x"));
    write_zarr3(path, {.more = R"(, "dimension_names": [null, "y", "x"])"});
    EXPECT_THAT(format::open_array(path, {}, 0)->header().names, testing::IsEmpty());
    fs::remove_all(path);
    const auto group = [&](const std::string& attributes, const std::string& more = "") {
        put_file(path + "/zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": )" +
                                          attributes + more + "}");
    };
    const std::string image = R"({"axes": [{"name": "t", "type": "time", "unit": "second"},
        {"name": "y", "type": "space", "unit": "nanometer"},
        {"name": "x", "type": "space", "unit": "nanometer"}], "datasets": [{"path": "full",
        "coordinateTransformations": [{"type": "scale", "scale": [2, 0.5, 0.25]}]}]})";
    write_zarr3(path + "/full", {.shards = Zarr3Shards{}});
    write_zarr3(path + "/half", {.sides = {3, 4, 7}, .chunk = {3, 4, 7}});
    group(R"({"ome": {"version": "0.5", "multiscales": [)" + image + "]}}");
    auto source = format::open_frames(path);
    EXPECT_TRUE(holds_pattern(*source));
    EXPECT_EQ(source->header().pixel, (PixelSize{.25, .5, "nm"}));
    EXPECT_EQ(source->header().frame_interval, 2);
    EXPECT_EQ(format::open_frames(path + "::half")->header().shape, (ImageShape{7, 4}));
    group("{}", R"(, "consolidated_metadata": {"kind": "inline", "must_understand": false,
                     "metadata": {}})");
    EXPECT_THAT(refusal(), HasSubstr("holds several arrays, expected one of their names"));
    group(R"({"ome": {"version": "0.5", "bioformats2raw.layout": 3}})");
    put_file(path + "/0/zarr.json",
             R"({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"multiscales":
                [{"axes": ["z", "y", "x"], "datasets": [{"path": "0"}]}]}}})");
    write_zarr3(path + "/0/0", {.sides = {2, 7, 13}});
    EXPECT_EQ(format::open_frames(path)->header().frames, 2);
    group(R"({"ome": {"multiscales": [{"datasets": [{"path": "../b"}]}]}})");
    EXPECT_THAT(refusal(), HasSubstr("/zarr.json: attributes.ome.multiscales[0].datasets[0].path "
                                     "\"../b\" leads out of its group"));
    group("{}", R"(, "later": 1)");
    EXPECT_THAT(refusal(), HasSubstr("/zarr.json: later is not supported"));
    fs::remove_all(path);
    group("{}");
    EXPECT_EQ(refusal(), ": is a Zarr group without arrays");
    write_zarr3(path + "/em", {});
    write_zarr3(path + "/cells/0", {});
    put_file(path + "/cells/zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes":
        {"ome": {"image-label": {}}}})");
    source = format::open_frames(path);
    EXPECT_EQ(remarks(*source), "em is read; the group also contains labels: cells/0");
    fs::rename(path, folder.path("other"));
    EXPECT_THAT(failure([&] { format::open_frames(folder.path("other")); }),
                HasSubstr("is a Zarr folder without the extension .zarr"));
}

TEST_F(Zarr3, is_written_in_shards_that_hold_whole_rows_of_chunks) {
    const auto files = [&] {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(path + "/0/c"))
            if (entry.is_regular_file())
                names.push_back(fs::relative(entry.path(), path + "/0").string());
        std::ranges::sort(names);
        return names;
    };
    write_pattern(path, {130, {512, 512}, Sample::u16}); // layers of 64 frames, 8 chunks in each
    EXPECT_THAT(files(), testing::ElementsAre("c/0/0/0", "c/1/0/0", "c/2/0/0"));
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    const auto array = format::parse_zarr_array(content(path + "/0/zarr.json"), "zarr.json");
    using Lengths = std::vector<std::int64_t>;
    EXPECT_EQ(array.chunk, (Lengths{64, 128, 256}));
    EXPECT_EQ(array.file_sides(), (Lengths{64, 512, 512}));
    EXPECT_THAT(array.names, testing::ElementsAre("t", "y", "x"));
    const std::string whole = content(path + "/0/c/1/0/0");
    EXPECT_TRUE(whole.ends_with(checksum(whole.substr(whole.size() - 132, 128))));
    write_pattern(path, {1, {20000, 9000}, Sample::u8}); // chunks of 2048×2048
    EXPECT_EQ(files().size(), 5U);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    write_pattern(path, {3, {37, 21}, Sample::f32});
    EXPECT_THAT(files(), testing::ElementsAre("c/0/0/0"));
    EXPECT_FALSE(format::parse_zarr_array(content(path + "/0/zarr.json"), "zarr.json").shards);
}

TEST_F(Zarr3, is_written_in_parts_like_as_a_whole) {
    const FrameHeader header{130, {300, 512}, Sample::u16};
    write_pattern(path, header);
    const std::string other = folder.path("b.zarr"), parts_of = folder.path("b.zarr.partial");
    const auto parts = format::create_frame_parts(other, header);
    ASSERT_EQ(parts->frames_per_part(), 64);
    fs::create_directory(parts_of);
    parts->create(parts_of);
    for (const auto& [first, count] : {std::pair(64, 66), std::pair(0, 64)}) {
        const auto part = parts->part(parts_of, first, count);
        for (std::int64_t frame = first; frame < first + count; ++frame)
            part->write(pattern_frame<float>(frame, header.shape));
        part->commit();
    }
    parts->commit(parts_of);
    EXPECT_TRUE(holds_pattern(*format::open_frames(other)));
    for (const std::string name : {"0/zarr.json", "0/c/0/0/0", "0/c/1/0/0", "0/c/2/0/0"})
        EXPECT_EQ(content(path + "/" + name), content(other + "/" + name)) << name;
}

} // namespace
} // namespace sextant::test
