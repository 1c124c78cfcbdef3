// SPDX-License-Identifier: BSD-3-Clause
// Series written as stores of Zarr.
#include "sextant/format/zarr/zarr.hpp"

#include <memory>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/zarr_files.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ZarrSink : public testing::Test {
  protected:
    std::unique_ptr<FrameSource> written(const FrameHeader& header,
                                         const format::SinkOptions& options = {}) const {
        write_pattern(path, header, options);
        return format::open_frames(path);
    }
    std::string refusal() const {
        const std::string message = failure([&] { write_pattern(path, {2, {8, 8}, Sample::u8}); });
        EXPECT_EQ(message, failure([&] { format::require_writable_output(path); }));
        return message.starts_with(path + ": ") ? message.substr(path.size() + 2) : message;
    }
    /// The text of a file in the only temporary folder.
    std::string unfinished(const std::string& name) const {
        for (const auto& entry : fs::directory_iterator(folder.path())) {
            if (entry.path().filename().string().starts_with(".sextant-"))
                return content((entry.path() / name).string());
        }
        return "";
    }

    static format::SinkOptions version(int version,
                                       format::StackAxis axis = format::StackAxis::time) {
        format::SinkOptions options;
        options.axis = axis;
        options.zarr_version = version;
        return options;
    }

    TemporaryFolder folder;
    std::string path = folder.path("a.zarr");
};

TEST_F(ZarrSink, writes_metadata_of_ome) {
    for (const int each : {2, 3}) {
        const std::string file = path + (each == 2 ? "/.zattrs" : "/zarr.json");
        FrameHeader header{3, {37, 21}, Sample::u16, 1, {.25, .5, "µm"}, {}, .125};
        auto source = written(header, version(each));
        EXPECT_EQ(fs::exists(path + "/zarr.json"), each == 3);
        EXPECT_EQ(source->header().pixel, header.pixel);
        EXPECT_EQ(source->header().frame_interval, .125);
        EXPECT_EQ(source->header().hyperstack, Hyperstack{});
        EXPECT_EQ(remarks(*source), "");
        EXPECT_THAT(content(file), HasSubstr("\"unit\": \"micrometer\""));
        EXPECT_THAT(content(file), HasSubstr("\"unit\": \"second\""));
        EXPECT_THAT(content(file), HasSubstr("\"name\": \"t\""));
        source = written(header, version(each, format::StackAxis::slices));
        EXPECT_EQ(source->header().pixel, header.pixel);
        EXPECT_EQ(source->header().frame_interval, 0);
        EXPECT_EQ(source->header().frames, 3);
        EXPECT_THAT(content(file), HasSubstr("\"name\": \"z\""));
        for (const std::string unit : {"nm", "Å", "pm", "mm", "cm", "m", "1/nm", ""}) {
            header.pixel = {.3, .7, unit};
            EXPECT_EQ(written(header, version(each))->header().pixel, header.pixel) << unit;
        }
        header.pixel = {};
        header.frame_interval = 0;
        EXPECT_EQ(written(header, version(each))->header().pixel, PixelSize{});
        EXPECT_EQ(written(header, version(each))->header().frame_interval, 0);
        header.frames = 1;
        written(header, version(each));
        EXPECT_THAT(content(file), testing::Not(HasSubstr("\"name\": \"t\"")));
    }
}

TEST_F(ZarrSink, compresses_chunks_of_at_most_4_mi_b) {
    written({3, {37, 21}, Sample::u8}, version(2));
    std::string chunk(3 * 37 * 21, '\0');
    const std::string stored = content(path + "/0/0/0/0");
    EXPECT_EQ(ZSTD_decompress(chunk.data(), chunk.size(), stored.data(), stored.size()),
              chunk.size());
    EXPECT_EQ(chunk[37 + 2], static_cast<char>(pattern(0, 2, 1)));
    const auto chunks_of = [&](const FrameHeader& header) {
        const auto sink = format::create_frames(path, header, version(2));
        return format::parse_zarr_array(unfinished("0/.zarray"), path + "/.zarray").chunk;
    };
    using Lengths = std::vector<std::int64_t>;
    EXPECT_EQ(chunks_of({512, {512, 512}, Sample::u8}), (Lengths{64, 256, 256}));
    EXPECT_EQ(chunks_of({512, {512, 512}, Sample::u16}), (Lengths{64, 128, 256}));
    EXPECT_EQ(chunks_of({512, {512, 512}, Sample::u32}), (Lengths{64, 128, 128}));
    EXPECT_EQ(chunks_of({1, {5000, 5000}, Sample::u8}), (Lengths{2048, 2048}));
    EXPECT_EQ(chunks_of({512, {4096, 4096}, Sample::u16}), (Lengths{8, 512, 512}))
        << "a layer of chunks has 256 MiB";
    EXPECT_EQ(chunks_of({512, {40960, 40960}, Sample::u16}).front(), 1);
}

TEST_F(ZarrSink, fills_chunks_beyond_the_array_with_zeros) {
    written({66, {4, 3}, Sample::u8});
    std::string chunk(64 * 12, 'x');
    const std::string stored = content(path + "/0/c/1/0/0");
    ASSERT_EQ(ZSTD_decompress(chunk.data(), chunk.size(), stored.data(), stored.size()),
              chunk.size());
    EXPECT_EQ(chunk.substr(24), std::string(62 * 12, '\0'));
    EXPECT_NE(chunk.substr(0, 24), std::string(24, '\0'));
}

TEST_F(ZarrSink, writes_no_chunks_of_zeros) {
    for (const int each : {2, 3}) {
        const auto sink = format::create_frames(path, {1, {5000, 5000}, Sample::u8}, version(each));
        std::vector<float> rows(5000 * 5000, 0);
        rows[4999] = 7;
        sink->write(rows);
        sink->commit();
        EXPECT_EQ(fs::exists(path + "/0/0/2"), each == 2);
        EXPECT_EQ(fs::exists(path + "/0/c/0/0"), each == 3); // a shard with one chunk
        EXPECT_LT(fs::file_size(path + (each == 2 ? "/0/0/2" : "/0/c/0/0")), 10000U);
        for (const std::string name : {"0/0/0", "0/0/1", "0/1", "0/2", "0/c/0/1", "0/c/1"})
            EXPECT_FALSE(fs::exists(path + "/" + name)) << name;
        EXPECT_EQ(read_frame(*format::open_frames(path), 0), rows);
    }
    const auto zeros = format::create_frames(path, {1, {5, 5}, Sample::f32});
    zeros->write(std::vector<float>(25, 0));
    zeros->commit();
    EXPECT_EQ(read_frame(*format::open_frames(path), 0), std::vector<float>(25, 0));
}

TEST_F(ZarrSink, replaces_stores_of_zarr_only) {
    write_zarr(path + "/9", {}); // as of another program
    write_zarr(path + "/raw", {});
    put_file(path + "/.zgroup", R"({"zarr_format": 2})");
    put_file(path + "/.zmetadata", "{}");
    EXPECT_EQ(written({3, {37, 21}, Sample::u16})->header().frames, 3);
    EXPECT_FALSE(fs::exists(path + "/9"));
    fs::remove_all(path);
    write_zarr(path, {}); // a single array
    EXPECT_EQ(written({2, {37, 21}, Sample::u16}, version(2))->header().frames, 2);
    EXPECT_EQ(written({2, {37, 21}, Sample::u16})->header().frames, 2); // over version 2, and 3
    EXPECT_EQ(written({2, {37, 21}, Sample::u16}, version(2))->header().frames, 2);
    EXPECT_FALSE(fs::exists(path + "/zarr.json"));
    EXPECT_EQ(written({2, {37, 21}, Sample::u16})->header().frames, 2);
    EXPECT_EQ(folder.entries(), 1);
    put_file(path + "/0/c/notes", "mine");
    EXPECT_THAT(refusal(), HasSubstr("holds '0', which would be lost"));
    fs::remove(path + "/0/c/notes");
    put_file(path + "/notes.txt", "mine");
    EXPECT_EQ(refusal(), "cannot be written: the existing folder holds 'notes.txt', which would be "
                         "lost");
    fs::rename(path + "/notes.txt", path + "/0.txt");
    EXPECT_THAT(refusal(), HasSubstr("holds '0.txt', which would be lost"));
    fs::remove(path + "/0.txt");
    put_file(path + "/figures/a.png", "mine");
    EXPECT_THAT(refusal(), HasSubstr("holds 'figures', which would be lost"));
    EXPECT_TRUE(holds_pattern(*format::open_frames(path + "::0")));
    fs::remove_all(path);
    fs::create_directory(path);
    EXPECT_EQ(written({2, {37, 21}, Sample::u16})->header().frames, 2); // an empty folder
    fs::remove_all(path);
    put_file(path + "/0", "no store");
    EXPECT_THAT(refusal(), HasSubstr("the existing folder holds '0', which would be lost"));
    fs::remove_all(path);
    fill_file(path, "mine");
    EXPECT_EQ(refusal(),
              "cannot be written: the path is a file, expected a folder or an unused name");
    EXPECT_EQ(content(path), "mine");
    fs::remove(path);
    path = folder.path("none/a.zarr");
    EXPECT_THAT(refusal(), HasSubstr("none does not exist"));
    EXPECT_EQ(folder.entries(), 0);
}

TEST_F(ZarrSink, can_be_checked_without_creating_anything) {
    format::require_writable_output(path);
    EXPECT_EQ(folder.entries(), 0);
    write_zarr(path, {});
    format::require_writable_output(path);
    format::require_writable_output(path + "/");
    EXPECT_EQ(folder.entries(), 1);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    EXPECT_THAT(failure([&] { format::require_writable_output(folder.path()); }),
                HasSubstr("is a folder"));
}

} // namespace
} // namespace sextant::test
