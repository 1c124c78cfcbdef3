// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff.hpp"

#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

class TiffSink : public testing::Test {
  protected:
    TemporaryFolder folder;
    std::string path = folder.path("a.tif");
    ImageShape shape{13, 7};
};

TEST_F(TiffSink, WritesStripsAndTilesThatAreReadAgain) {
    for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
        for (const std::int64_t tile : {0, 16, 64}) {
            const FrameHeader header{3, {37, 29}, sample, 1, {.5, .25, "nm"}, {}};
            write_pattern(path, header, {tile});
            const auto source = format::open_frames(path);
            EXPECT_EQ(source->header().frames, 3);
            EXPECT_EQ(source->header().shape, header.shape);
            EXPECT_EQ(source->header().sample, sample);
            EXPECT_EQ(source->header().pixel, header.pixel);
            EXPECT_EQ(remarks(*source), "");
            EXPECT_TRUE(holds_pattern(*source)) << name(sample) << ", tiles of " << tile;
            EXPECT_EQ(content(path)[2], 42) << "no BigTIFF without need";
        }
    }
}

TEST_F(TiffSink, WritesManyStripsThatAreReadARowAtATime) {
    const ImageShape large{5000, 300}; // 6 MB in floats: strips of 13 rows
    write_pattern(path, {1, large, Sample::f32, 1, {}, {}});
    const auto source = format::open_frames(path);
    for (const std::int64_t y : {0, 12, 13, 14, 299, 150, 7}) {
        const auto row = read_rows(*source, 0, {y, y + 1});
        EXPECT_EQ(row[4999], pattern(0, 4999, y)) << y;
    }
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(TiffSink, WritesBigTiffWhereAFileCouldReach4GiB) {
    const auto big = [](std::int64_t frames, ImageShape size, std::int64_t tile) {
        return format::needs_big_tiff({frames, size, Sample::u8, 1, {}, {}}, {tile});
    };
    EXPECT_FALSE(big(1, {1 << 16, 65000}, 0));
    EXPECT_TRUE(big(1, {1 << 16, 1 << 16}, 0));
    EXPECT_FALSE(big(1, {1 << 16, 65000}, 64));
    EXPECT_TRUE(big(1, {1 << 16, 65473}, 4096)) << "tiles reach beyond the frame";
    EXPECT_TRUE(big(5 << 20, {1, 1}, 0)) << "directories count too";
}

TEST_F(TiffSink, RefusesWhatNobodyCanWrite) {
    const auto refused = [&](FrameHeader header, format::SinkOptions options = {}) {
        return failure([&] { format::create_frames(path, header, options); });
    };
    EXPECT_EQ(refused({0, {1, 1}, Sample::u8, 1, {}, {}}),
              path + ": cannot hold 0 frames of 1×1, expected at least one with positive sides");
    EXPECT_EQ(refused({1, {1, 1}, Sample::i32, 1, {}, {}}),
              path + ": cannot hold samples of i32, expected one of u8, u16, u32, f32");
    EXPECT_EQ(refused({1, {1, 1}, Sample::u8, 1, {}, {}}, {17}),
              path + ": cannot have tiles of 17, expected a multiple of 16 up to 4096");
    EXPECT_EQ(folder.entries(), 0);
}

TEST_F(TiffSink, KeepsSamplesThatFloatsWouldRound) {
    const std::vector<std::uint32_t> labels = {1, 16777217, 4294967295U, 0};
    const auto sink = format::create_frames(path, {1, {2, 2}, Sample::u32, 1, {}, {}});
    sink->write_samples(std::as_bytes(std::span(labels).first(2)));
    EXPECT_THROW(sink->write_samples(std::as_bytes(std::span(labels).first(1))), std::logic_error);
    sink->write_samples(std::as_bytes(std::span(labels).last(2)));
    sink->commit();
    std::vector<std::uint32_t> found(4);
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().sample, Sample::u32);
    source->read_samples(0, {0, 2}, std::as_writable_bytes(std::span(found)));
    EXPECT_EQ(found, labels);
}

TEST_F(TiffSink, LeavesAWholeFileOrNone) {
    {
        const auto sink = format::create_frames(path, {2, shape, Sample::u8, 1, {}, {}});
        sink->write(pattern_frame<float>(0, shape));
        EXPECT_THROW(sink->commit(), std::logic_error);
        EXPECT_THROW(sink->write(std::vector<float>(5)), std::logic_error);
    }
    EXPECT_EQ(folder.entries(), 0);
}

} // namespace
} // namespace sextant::test
