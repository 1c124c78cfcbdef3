// SPDX-License-Identifier: BSD-3-Clause
// Arrays of Zarr whose metadata or chunks are damaged, or lead out of their folder: reading either
// throws InvalidFile or returns frames of the shape in the header, with little time and memory.
#include "sextant/format/zarr/zarr.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/images.hpp"
#include "tests/format/zarr_files.hpp"
#include "tests/support/peak_memory.hpp"
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace sextant::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

class DamagedZarr : public testing::Test {
  protected:
    void SetUp() override { write_zarr(path, {}); }

    /// The message without the path of the store.
    std::string refusal(const format::SourceOptions& options = {}) const {
        const std::string message = failure([&] {
            const auto source = format::open_frames(path, options);
            for (std::int64_t frame = 0; frame < source->header().frames; ++frame)
                read_frame(*source, frame);
        });
        return message.starts_with(path) ? message.substr(path.size()) : message;
    }

    /// The message if a part of the metadata is replaced.
    std::string with(const std::string& part, const std::string& other) const {
        std::string text = ZarrPattern{}.text();
        const std::size_t at = text.find(part);
        if (at == std::string::npos)
            throw std::logic_error("the metadata have no " + part);
        put_file(path + "/.zarray", text.replace(at, part.size(), other));
        return refusal();
    }

    void refuses(const std::string& part, const std::string& other, const std::string& text) const {
        EXPECT_THAT(with(part, other), HasSubstr(text)) << part;
    }

    /// The message if a chunk of 80 bytes, compressed by a codec, is stored as these bytes.
    std::string stored_as(const ZarrCompressor& compressor, const std::string& bytes) const {
        put_file(path + "/.zarray", ZarrPattern{.compressor = compressor}.text());
        fill_file(path + "/0.0.0", bytes);
        return refusal();
    }

    /// An array whose chunks are all missing.
    std::unique_ptr<FrameSource> opened(const ZarrPattern& array) const {
        fs::remove_all(path);
        put_file(path + "/.zarray", array.text());
        return format::open_frames(path);
    }

    TemporaryFolder folder;
    std::string path = folder.path("a.zarr");
    const std::string chunk = zarr_chunk({}, {0, 0, 0});
};

TEST_F(DamagedZarr, with_missing_fields_is_refused) {
    const std::vector<std::string> fields{"zarr_format", "shape",      "chunks", "dtype",
                                          "compressor",  "fill_value", "order"};
    for (const std::string& field : fields)
        EXPECT_EQ(with("\"" + field + "\"", "\"x\""), "/.zarray: " + field + " is missing");
    EXPECT_EQ(with("\"filters\"", "\"x\""), "nothing was thrown"); // old files have no filters
}

TEST_F(DamagedZarr, with_fields_of_wrong_types_is_refused) {
    refuses("[3, 7, 13]", "21", "/.zarray: shape is 21");
    refuses("[3, 7, 13]", "[3, 7.5, 13]", "shape[1] is 7.5, expected");
    refuses("[3, 7, 13]", "[3, \"7\", 13]", "shape[1] is \"7\", expected");
    refuses("[3, 7, 13]", "[273]", "shape is an array of 1, expected two");
    refuses("[2, 4, 5]", "[2, 4]", "chunks is an array of 2, expected one length per axis");
    refuses("\"<u2\"", "[[\"a\", \"<u2\"]]", "dtype is an array of 1");
    refuses("null", "\"zstd\"", "compressor is \"zstd\", expected");
    refuses("null", "{\"id\": 3}", "compressor.id is 3");
    refuses("\"C\"", "\"A\"", "order is \"A\", expected one of \"C\", \"F\"");
    refuses("\".\"", "\"-\"", "dimension_separator is \"-\", expected one of");
    refuses("\"filters\": null", "\"filters\": 1", "filters is 1, expected");
    refuses("2,", "\"2\",", "zarr_format is \"2\"");
    for (const std::string type : {"<c8", "<u3", "|u2", "u2", "<U4", "|S2", "<M8[ns]", "|O", "<f1",
                                   "<f16", "<u", "", "=u2", "|b2", "<u\\u0000"}) {
        EXPECT_THAT(
            with("<u2", type),
            HasSubstr("expected integers of 8 to 64 bits, floats of 16 to 64 bits or bools"))
            << type;
    }
}

TEST_F(DamagedZarr, with_impossible_lengths_is_refused) {
    for (const std::string length :
         {"0", "-7", "1e3", "2000000000000000000", "9223372036854775808", "99999999999999999999"}) {
        refuses("[3, 7, 13]", "[3, " + length + ", 13]", "/.zarray: shape[1] is ");
        refuses("[2, 4, 5]", "[2, " + length + ", 5]", "/.zarray: chunks[1] is ");
    }
    refuses("[3, 7, 13]", "[3, 1000000, 1000000]", ": is 1000000×1000000");
    refuses("[3, 7, 13]", "[1000000000000000, 7, 13]", "has an implausible number of frames");
    refuses("[3, 7, 13]", "[1000000000000, 131072, 131072]", "not overflow");
    refuses("[2, 4, 5]", "[1024, 1024, 1025]",
            "chunks are 1024×1024×1025, expected chunks of at most 2147483648 bytes");
    refuses("[2, 4, 5]", "[1000000000, 1000000000, 1000000000]",
            "expected chunks of at most 2147483648 bytes");
    std::string many = "[1";
    for (int axis = 1; axis < 33; ++axis)
        many += ", 1";
    refuses("[3, 7, 13]", many + "]", "expected at most 32 axes");
}

TEST_F(DamagedZarr, with_other_text_than_json_is_refused) {
    const std::string text = ZarrPattern{}.text();
    for (std::size_t length = 0; length < text.size(); ++length) {
        put_file(path + "/.zarray", text.substr(0, length));
        EXPECT_THAT(refusal(), HasSubstr("/.zarray: is not JSON")) << length;
    }
    put_file(path + "/.zarray", std::string(1 << 20, '['));
    EXPECT_THAT(refusal(), HasSubstr("/.zarray: is nested more than"));
    put_file(path + "/.zarray", "[2]");
    EXPECT_THAT(refusal(), HasSubstr("/.zarray: is an array of 1"));
    fs::resize_file(path + "/.zarray", std::uintmax_t{1} << 33);
    EXPECT_THAT(refusal(), HasSubstr("/.zarray: has 8589934592 bytes, expected at most 1048576"));
    fs::remove(path + "/.zarray");
    put_file(path + "/.zattrs", "");
    fs::resize_file(path + "/.zattrs", std::uintmax_t{1} << 33);
    EXPECT_THAT(refusal(), HasSubstr("/.zattrs: has 8589934592 bytes, expected at most 67108864"));
}

TEST_F(DamagedZarr, of_another_version_is_refused) {
    refuses("\"zarr_format\": 2", "\"zarr_format\": 3", "zarr_format is 3, expected 2");
    fs::remove(path + "/.zarray");
    put_file(path + "/zarr.json", R"({"zarr_format": 3, "node_type": "array"})");
    EXPECT_EQ(refusal(), "/zarr.json: data_type is missing");
    put_file(path + "/zarr.json", R"({"zarr_format": 4, "node_type": "array"})");
    EXPECT_EQ(refusal(), "/zarr.json: zarr_format is 4, expected 3");
}

TEST_F(DamagedZarr, of_other_codecs_is_refused_by_their_names) {
    for (const std::string codec : {"lz4", "bz2", "lzma", "zfpy", "packbits"}) {
        EXPECT_EQ(
            with("\"compressor\": null", "\"compressor\": {\"id\": \"" + codec + "\"}"),
            "/.zarray: compressor.id is \"" + codec +
                "\", a codec that is not supported, expected null, zlib, gzip, zstd or blosc");
    }
    EXPECT_EQ(with("\"filters\": null", "\"filters\": [{\"id\": \"delta\"}]"),
              "/.zarray: filters[0].id is \"delta\", expected no filters, which are not supported");
    EXPECT_EQ(with("\"filters\": null", "\"filters\": []"), "nothing was thrown");
    EXPECT_EQ(
        with("\"compressor\": null", "\"compressor\": {\"id\": \"blosc\", \"cname\": \"snappy\"}"),
        "/.zarray: compressor.cname is \"snappy\", expected one of blosclz, lz4, lz4hc, zstd, "
        "zlib");
}

TEST_F(DamagedZarr, with_truncated_chunks_is_refused) {
    for (const ZarrCompressor& compressor : zarr_compressors()) {
        const std::string whole = compressor.compress(chunk);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            EXPECT_THAT(stored_as(compressor, whole.substr(0, length)), HasSubstr("/0.0.0: "))
                << compressor.json << length;
        }
        EXPECT_EQ(failure([&] { // the rest of the chunks are not compressed by this codec
                      fill_file(path + "/0.0.0", whole);
                      read_rows(*format::open_frames(path), 0, {0, 0});
                  }),
                  "nothing was thrown");
    }
}

TEST_F(DamagedZarr, with_chunks_of_another_length_is_refused) {
    EXPECT_EQ(stored_as(no_compressor(), chunk + "x"),
              "/0.0.0: has 81 bytes, expected a chunk of 80");
    const std::string longer = chunk + "xy", shorter = chunk.substr(2);
    for (const ZarrCompressor& compressor : zarr_compressors()) {
        if (compressor.json == "null")
            continue;
        EXPECT_THAT(stored_as(compressor, compressor.compress(longer)),
                    AnyOf("/0.0.0: decodes to more than its chunk of 80 bytes",
                          "/0.0.0: decodes to 82 bytes, expected a chunk of 80"))
            << compressor.json;
        EXPECT_EQ(stored_as(compressor, compressor.compress(shorter)),
                  "/0.0.0: decodes to 78 bytes, expected a chunk of 80")
            << compressor.json;
        EXPECT_THAT(stored_as(compressor, compressor.compress(chunk) + "x"), HasSubstr("/0.0.0: "))
            << compressor.json;
        EXPECT_THAT(stored_as(compressor, std::string(1 << 17, '\0')),
                    HasSubstr("/0.0.0: has 131072 bytes, expected at most"));
    }
}

TEST_F(DamagedZarr, with_chunks_of_another_codec_is_refused) {
    const auto all = zarr_compressors();
    const std::vector<ZarrCompressor> some{all[1], all[2], all[3], blosc_compressor("zstd", 1)};
    for (const ZarrCompressor& stated : some) {
        for (const ZarrCompressor& used : some) {
            if (stated.json != used.json) {
                EXPECT_THAT(stored_as(stated, used.compress(chunk)),
                            HasSubstr("/0.0.0: cannot be decoded as "))
                    << stated.json << used.json;
            }
        }
    }
    std::string snappy = by_blosc(std::string(20000, 'a'), "lz4", 1);
    snappy[2] = static_cast<char>((snappy[2] & 0x1f) | BLOSC_SNAPPY_FORMAT << 5);
    put_file(path + "/.zarray", ZarrPattern{.sides = {100, 100},
                                            .chunk = {100, 100},
                                            .compressor = blosc_compressor("lz4", 1)}
                                    .text());
    fill_file(path + "/0.0", snappy);
    EXPECT_EQ(refusal(), "/0.0: has Blosc data of codec 2, expected blosclz, lz4, zlib or zstd");
}

TEST_F(DamagedZarr, chunks_with_any_changed_bit_are_decoded_or_refused_without_a_crash) {
    using Codecs = std::vector<format::ZarrCodec>;
    const std::vector<Codecs> codecs{
        {}, {format::ZarrCodec::zlib}, {format::ZarrCodec::gzip}, {format::ZarrCodec::zstd}};
    const std::string large = stack_bytes<std::uint16_t>(3, {37, 21}, std::endian::little);
    std::vector<std::byte> decoded(large.size());
    const auto all = zarr_compressors();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Codecs codec = i < codecs.size() ? codecs[i] : Codecs{format::ZarrCodec::blosc};
        const std::string whole = all[i].compress(large);
        int refused = 0;
        for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
            std::string bytes = whole;
            bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
            const std::string message = failure([&] {
                format::decode_zarr_chunk("chunk", codec, std::as_bytes(std::span(bytes)), decoded);
            });
            EXPECT_THAT(message, AnyOf(HasSubstr("chunk: "), "nothing was thrown"));
            refused += message == "nothing was thrown" ? 0 : 1;
        }
        EXPECT_EQ(refused > 4, !codec.empty()) << all[i].json;
    }
}

TEST_F(DamagedZarr, cannot_demand_memory_that_its_files_do_not_justify) {
    const long before = memory_before();
    const ZarrCompressor zstd = zarr_compressors()[3];
    // Missing chunks of 2 GiB.
    const auto missing = opened({.sides = {2, 9, 9}, .chunk = {2, 32768, 16384}, .type = "<u2"});
    EXPECT_EQ(read_frame(*missing, 1), std::vector<float>(81, 0));
    // A chunk of 2 GiB in a few bytes.
    const ZarrPattern huge{
        .sides = {2, 9, 9}, .chunk = {2, 32768, 16384}, .type = "<u2", .compressor = zstd};
    opened(huge);
    put_file(path + "/0.0.0", by_zstd(std::string(1000, 'a')));
    const auto tiny = format::open_frames(path);
    EXPECT_THAT(failure([&] { read_frame(*tiny, 0); }),
                HasSubstr("too few for the 2147483648 bytes of pixels that its header claims"));
    // Rows of 64 GiB, and 2³⁴ rows of one sample.
    EXPECT_THAT(failure([&] {
                    opened({.sides = {1, 8589934592}, .chunk = {1, 4}, .type = "<f8"});
                }),
                HasSubstr("too few for the 68719476736 bytes of pixels"));
    const auto high = opened({.sides = {17179869184, 1}, .chunk = {1, 1}, .type = "<f8"});
    EXPECT_EQ(read_rows(*high, 0, {17179869180, 17179869184}), std::vector<float>(4, 0));
    // A frame of 128 GiB, of which a few rows are read, in chunks as high as the frame.
    const auto large = opened({.sides = {131072, 131072}, .chunk = {131072, 1024}, .type = "<f8"});
    EXPECT_EQ(read_rows(*large, 0, {70000, 70001}).back(), 0);
    EXPECT_LT(peak_memory() - before, 1 << 19);
}

TEST_F(DamagedZarr, is_read_with_limited_memory) {
    const long before = memory_before();
    // Layers of 128 MiB, read one after the other; all chunks are missing.
    auto layers =
        opened({.sides = {80, 4096, 4096}, .chunk = {8, 4096, 4096}, .type = "|u1", .fill = "9"});
    for (std::int64_t frame = 0; frame < 80; frame += 8)
        EXPECT_EQ(read_rows(*layers, frame, {7, 8}).back(), 9);
    // Layers of 4 GiB, of which a few frames are decoded at a time, and a part of a layer in which
    // single frames exceed the memory.
    layers = nullptr;
    auto deep =
        opened({.sides = {64, 8192, 8192}, .chunk = {64, 2048, 2048}, .type = "|u1", .fill = "9"});
    EXPECT_EQ(read_rows(*deep, 63, {8191, 8192}).back(), 9);
    deep = nullptr;
    const auto wide =
        opened({.sides = {2, 65536, 65536}, .chunk = {2, 1024, 1024}, .type = "|u1", .fill = "9"});
    for (std::int64_t row = 0; row < 65536; row += 8192)
        EXPECT_EQ(read_rows(*wide, 1, {row, row + 1}).back(), 9);
    EXPECT_LT(peak_memory() - before, 1 << 19);
}

TEST_F(DamagedZarr, of_files_outside_its_folder_is_refused_unless_allowed) {
    const std::string secret = folder.path("secret");
    fs::rename(path + "/0.0.0", secret);
    fs::create_symlink("../secret", path + "/0.0.0");
    EXPECT_EQ(refusal(), "/0.0.0: is stored outside its Zarr store, in " +
                             fs::canonical(secret).string() + ": --allow-external allows this");
    EXPECT_EQ(refusal({.allow_external = true}), "nothing was thrown");
    EXPECT_TRUE(holds_pattern(*format::open_frames(path, {.allow_external = true})));
    fs::remove(secret);
    EXPECT_EQ(refusal(), "/0.0.0: is a symbolic link to a missing file");
    fs::remove(path + "/0.0.0");
    fs::create_symlink("0.0.1", path + "/0.0.0"); // within the store
    EXPECT_EQ(refusal(), "nothing was thrown");
    fs::remove(path + "/0.0.0");
    fs::create_symlink("0.0.0", path + "/0.0.0");
    EXPECT_THAT(refusal(), HasSubstr("/0.0.0: cannot be read: Too many levels of symbolic links"));
}

TEST_F(DamagedZarr, of_folders_outside_its_folder_is_refused_unless_allowed) {
    const std::string outside = folder.path("outside");
    fs::rename(path, outside);
    fs::create_directory(path);
    for (const std::string place : {"../outside", outside.c_str(), "a/../../outside", ".."}) {
        put_file(path + "/.zattrs",
                 R"({"multiscales": [{"datasets": [{"path": ")" + place + R"("}]}]})");
        EXPECT_THAT(refusal({.allow_external = true}),
                    HasSubstr("/.zattrs: multiscales[0].datasets[0].path \"" + place +
                              "\" leads out of its group"));
    }
    fs::create_symlink("../outside", path + "/0");
    put_file(path + "/.zattrs", R"({"multiscales": [{"datasets": [{"path": "0"}]}]})");
    EXPECT_THAT(refusal(), HasSubstr("/0: is stored outside its Zarr store"));
    EXPECT_EQ(refusal({.allow_external = true}), "nothing was thrown");
    fs::remove(path + "/.zattrs");
    EXPECT_THAT(refusal(), HasSubstr("is not a Zarr array or group")); // links are not searched
    fs::create_symlink("../outside/.zarray", path + "/.zarray");
    EXPECT_THAT(refusal(), HasSubstr("/.zarray: is stored outside its Zarr store"));
}

TEST_F(DamagedZarr, with_broken_links_to_folders_is_refused) {
    fs::remove_all(path);
    write_zarr(path, {.separator = "/"});
    fs::remove_all(path + "/1");
    EXPECT_EQ(refusal(), "nothing was thrown");
    fs::create_symlink("nowhere", path + "/1");
    EXPECT_EQ(refusal(), "/1: is a symbolic link to a missing file");
}

TEST_F(DamagedZarr, with_chunks_that_are_not_regular_files_is_refused) {
    const std::string name = path + "/0.0.0";
    fs::remove(name);
    fs::create_directory(name);
    EXPECT_EQ(refusal(), "/0.0.0: is a folder, expected a file");
    fs::remove(name);
    ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
    EXPECT_EQ(refusal(), "/0.0.0: is not a regular file");
    fs::remove(name);
    fs::create_symlink("/dev/zero", name);
    EXPECT_EQ(refusal({.allow_external = true}), "/0.0.0: is not a regular file");
    fs::remove_all(path);
    write_zarr(path, {.separator = "/"});
    fs::remove_all(path + "/0");
    fill_file(path + "/0", "x");
    EXPECT_EQ(refusal(), "/0/0/0: cannot be read: Not a directory");
}

} // namespace
} // namespace sextant::test
