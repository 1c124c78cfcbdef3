// SPDX-License-Identifier: BSD-3-Clause
// Filters on files of every format, in windows smaller than the image.
#include "sextant/array/plane_sink.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <filesystem>
#include <optional>

#include "tests/format/fixtures.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_bytes.hpp"
#include "tests/support/filter_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

constexpr ImageShape shape{301, 410};

void filter_file(const std::string& image, const std::string& output, int ranks) {
    run_threads(ranks, [&](Communicator communicator) {
        RowSource source(format::open_frames(image), 0);
        std::optional<PlaneSink> sink;
        if (communicator.rank() == 0)
            sink.emplace(format::create_frames(output, {.frames = 3, .shape = source.shape()}));
        Filtering filtering(
            communicator,
            {.sigma = 2, .derivatives = {"x", "yy", "gradient-magnitude"}, .memory = 1 << 20});
        const FilterResult result =
            filtering.run(&source, [&](int k, Elements first, std::span<const float> rows) {
                sink->write(k, first, rows);
            });
        EXPECT_GT(result.windows, 1);
        if (sink)
            sink->commit();
    });
}

/// The samples of the test pattern as floats.
template <class T>
std::vector<float> expected(const ElementFormat& element) {
    const std::string text = test::pattern_bytes<T>(0, shape);
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return test::filtered({first, first + text.size()}, element, shape,
                          {2, {"x", "yy", "gradient-magnitude"}, {}});
}

std::vector<float> planes_of(const std::string& path) {
    const auto frames = format::open_frames(path);
    std::vector<float> all;
    for (std::int64_t frame = 0; frame < frames->header().frames; ++frame) {
        const std::vector<float> one = test::read_frame(*frames, frame);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

FrameHeader header_of(Sample sample) {
    FrameHeader header;
    header.frames = 1, header.shape = shape, header.sample = sample;
    return header;
}

TEST(FilterFormats, every_input_and_output_format_gives_the_same_values) {
    const test::TemporaryFolder folder;
    const auto file = [&](const char* name, Sample sample) {
        test::write_pattern(folder.path(name), header_of(sample));
    };
    file("strips8.tif", Sample::u8);
    test::fill_file(folder.path("tiles16.tif"), test::tiled_stack<std::uint16_t>(1, shape, 64));
    file("strips32.tif", Sample::f32);
    test::fill_file(folder.path("tiles32.tif"), test::tiled_stack<float>(1, shape, 32));
    file("a16.mrc", Sample::u16);
    file("a32.mrc", Sample::f32);
    file("a8.png", Sample::u8);
    file("a16.png", Sample::u16);
    file("a32.npy", Sample::f32);
    test::TiffBytes big(std::endian::big, true);
    big.add({.shape = shape}, test::pattern_bytes<std::uint16_t>(0, shape, std::endian::big));
    test::fill_file(folder.path("big16.tif"), big.bytes());
    const std::vector<float> wanted = expected<float>(gray_f32);
    ASSERT_EQ(wanted, expected<std::uint8_t>(gray_u8));
    ASSERT_EQ(wanted, expected<std::uint16_t>(gray_u16));
    for (const char* name : {"strips8.tif", "tiles16.tif", "strips32.tif", "tiles32.tif",
                             "big16.tif", "a16.mrc", "a32.mrc", "a8.png", "a16.png", "a32.npy"}) {
        for (const char* output : {"out.npy", "out.tif", "out.mrc"}) {
            filter_file(folder.path(name), folder.path(output), 3);
            EXPECT_TRUE(planes_of(folder.path(output)) == wanted) << name << " to " << output;
        }
    }
}

/// Truncates a file after it was opened; a rank whose rows are missing must throw InvalidFile.
void expect_cut_reported(const std::string& path) {
    const auto size = std::filesystem::file_size(path);
    run_threads(3, [&](Communicator communicator) {
        RowSource source(format::open_frames(path), 0);
        communicator.barrier();
        if (communicator.rank() == 0)
            std::filesystem::resize_file(path, size / 2);
        communicator.barrier();
        const Grid strips{shape.width, shape.height, 1, 3};
        try {
            distributed::read_tiles(communicator, strips, source);
            EXPECT_EQ(communicator.rank(), 0) << path;
        } catch (const InvalidFile& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(path));
        }
    });
}

TEST(FilterFormats, a_file_that_shrinks_during_reading_is_named_in_the_error) {
    const test::TemporaryFolder folder;
    for (const char* name : {"a.npy", "a.mrc", "a.tif"}) {
        test::write_pattern(folder.path(name), header_of(Sample::f32), {});
        expect_cut_reported(folder.path(name));
    }
}

} // namespace
} // namespace sextant::command
