// SPDX-License-Identifier: BSD-3-Clause
// Interlaced PNG files give the same samples as others, and a highly compressed file needs little
// memory.
#include "sextant/format/png.hpp"

#include <cstdint>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/png_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

void write(const std::string& path, const spng_ihdr& header,
           const std::vector<std::uint8_t>& samples) {
    const bool indexed = header.color_type == SPNG_COLOR_TYPE_INDEXED;
    Png{header, samples, indexed ? two_colours : spng_plte{}}.write(path);
}

int channels_of(std::uint8_t colour) {
    return colour == SPNG_COLOR_TYPE_TRUECOLOR         ? 3
           : colour == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ? 4
           : colour == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ? 2
                                                       : 1;
}

class PngFrames : public testing::Test {
  protected:
    std::vector<std::byte> samples_of(const std::string& name) {
        const auto source = format::open_frames(name);
        const FrameHeader& header = source->header();
        std::vector<std::byte> samples(static_cast<std::size_t>(
            header.shape.elements() * header.channels * size_of(header.sample)));
        source->read_samples(0, {0, header.shape.height}, samples);
        return samples;
    }
    TemporaryFolder folder;
};

TEST_F(PngFrames, have_the_same_samples_interlaced_or_not) {
    Random random(5);
    struct Kind {
        std::uint8_t colour, bits;
    };
    const std::string plain = folder.path("a.png"), interlaced = folder.path("b.png");
    for (const Kind& kind : {Kind{SPNG_COLOR_TYPE_GRAYSCALE, 1},
                             {SPNG_COLOR_TYPE_GRAYSCALE, 2},
                             {SPNG_COLOR_TYPE_GRAYSCALE, 4},
                             {SPNG_COLOR_TYPE_GRAYSCALE, 8},
                             {SPNG_COLOR_TYPE_GRAYSCALE, 16},
                             {SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 8},
                             {SPNG_COLOR_TYPE_TRUECOLOR, 16},
                             {SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 8},
                             {SPNG_COLOR_TYPE_INDEXED, 1}}) {
        for (const ImageShape& shape : {ImageShape{1, 1},
                                        {2, 1},
                                        {1, 5},
                                        {4, 3},
                                        {5, 5},
                                        {9, 2},
                                        {8, 8},
                                        {13, 7},
                                        {3, 17},
                                        {33, 19}}) {
            spng_ihdr header{static_cast<std::uint32_t>(shape.width),
                             static_cast<std::uint32_t>(shape.height),
                             kind.bits,
                             kind.colour,
                             0,
                             0,
                             0};
            const std::int64_t row = (shape.width * channels_of(kind.colour) * kind.bits + 7) / 8;
            std::vector<std::uint8_t> samples(static_cast<std::size_t>(row * shape.height));
            for (std::uint8_t& sample : samples)
                sample = static_cast<std::uint8_t>(random.number(0, 255));
            write(plain, header, samples);
            header.interlace_method = 1;
            write(interlaced, header, samples);
            const auto expected = samples_of(plain);
            EXPECT_EQ(samples_of(interlaced), expected)
                << int{kind.colour} << " " << int{kind.bits} << " " << shape.width << " "
                << shape.height;
            if (kind.bits == 8) {
                EXPECT_EQ(std::memcmp(expected.data(), samples.data(), samples.size()), 0);
            }
        }
    }
}

TEST_F(PngFrames, are_read_starting_at_any_row) {
    const std::string path = folder.path("a.png");
    for (const std::uint8_t interlace : {0, 1}) {
        std::vector<std::uint8_t> samples = pattern_frame<std::uint8_t>(0, {37, 23});
        write(path, {37, 23, 8, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, interlace}, samples);
        EXPECT_TRUE(holds_pattern(*format::open_frames(path))) << int{interlace};
    }
}

TEST_F(PngFrames, with_many_pixels_in_a_small_file_use_little_memory) {
    const std::string path = folder.path("a.png");
    constexpr std::uint32_t side = 12000; // 144 MB of samples
    for (const std::uint8_t interlace : {0, 1}) {
        write(path, {side, side, 1, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, interlace},
              std::vector<std::uint8_t>(side / 8 * side, 0xff));
        const auto read_all = [&](std::int64_t last) {
            return peak_memory_of([&] {
                const auto source = format::open_frames(path);
                std::vector<float> row(side);
                for (std::int64_t y = 0; y < last; ++y) {
                    source->read_rows(0, {y, y + 1}, row);
                    if (row[7] != 255)
                        throw std::logic_error("another sample");
                }
            });
        };
        EXPECT_LT(read_all(side) - read_all(0), 16 << 10) << "KiB, interlace " << int{interlace};
    }
}

} // namespace
} // namespace sextant::test
