// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/png.hpp"

#include "sextant/format/catalogue.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/png_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

class PngFile : public testing::Test {
  protected:
    std::vector<RgbaF32> pixels() const {
        const Image image = format::read_image(path);
        const auto read = image.pixels<RgbaF32>();
        return {read.begin(), read.end()};
    }
    std::string reading_fails() const {
        return failure([&] { format::read_image(path); });
    }
    void write(ImageShape shape, const std::vector<RgbaF32>& colours) const {
        Image image(shape, rgba_f32);
        std::copy(colours.begin(), colours.end(), image.pixels<RgbaF32>().begin());
        format::write_image(path, image);
    }

    TemporaryFolder folder;
    std::string path = folder.path("image.png");
    Png png;
};

TEST_F(PngFile, stores_straight_alpha_and_is_premultiplied_when_read) {
    png.samples = {255, 128, 0, 51, 10, 20, 30, 255};
    png.write(path);
    const float a = 51.0F / 255;
    EXPECT_THAT(pixels(), testing::ElementsAre(RgbaF32{a, 128.0F / 255 * a, 0, a},
                                               RgbaF32{10.0F / 255, 20.0F / 255, 30.0F / 255, 1}));
}

TEST_F(PngFile, converts_every_8_bit_sample_to_its_exact_quotient_by_255) {
    png.header.width = 256;
    png.header.color_type = SPNG_COLOR_TYPE_GRAYSCALE;
    for (int value = 0; value < 256; ++value)
        png.samples.push_back(static_cast<std::uint8_t>(value));
    png.write(path);
    const auto read = pixels();
    for (std::size_t value = 0; value < 256; ++value) {
        EXPECT_EQ(read[value].g, static_cast<float>(value) / 255) << value;
    }
}

TEST_F(PngFile, of_any_shape_is_read_back_within_rounding_errors) {
    for (const ImageShape shape : {ImageShape{1, 1}, {997, 1}, {1, 997}, {33, 17}}) {
        const Image image = any_colours(shape, 5);
        format::write_image(path, image);
        const Image read = format::read_image(path);
        ASSERT_EQ(read.shape(), shape);
        for (std::size_t i = 0; i < read.pixels<RgbaF32>().size(); ++i) {
            const RgbaF32 &is = read.pixels<RgbaF32>()[i], &was = image.pixels<RgbaF32>()[i];
            EXPECT_NEAR(is.r, was.r, 1e-6);
            EXPECT_NEAR(is.g, was.g, 1e-6);
            EXPECT_NEAR(is.b, was.b, 1e-6);
            EXPECT_EQ(is.a, was.a);
        }
    }
}

TEST_F(PngFile, rounds_colours_to_the_nearest_step) {
    Random random(3);
    std::vector<RgbaF32> colours(500);
    for (RgbaF32& pixel : colours) {
        const float a = static_cast<float>(random.number(1, 1000)) / 1000;
        pixel = {a * static_cast<float>(random.number(0, 1000)) / 1000, 0, a, a};
    }
    write({500, 1}, colours);
    const auto read = pixels();
    for (std::size_t i = 0; i < colours.size(); ++i) {
        EXPECT_NEAR(read[i].a, colours[i].a, 0.5001 / 255);
        if (read[i].a == 0)
            continue; // too transparent to keep a colour
        EXPECT_NEAR(read[i].r / read[i].a, colours[i].r / colours[i].a, 0.5001 / 255);
        EXPECT_NEAR(read[i].b / read[i].a, 1, 1e-6);
    }
}

TEST_F(PngFile, is_unchanged_when_read_and_written_again) {
    format::write_image(path, any_colours({256, 64}, 9));
    const std::string first = content(path);
    format::write_image(path, format::read_image(path));
    EXPECT_TRUE(content(path) == first);
}

TEST_F(PngFile, with_16_bits_keeps_all_bits) {
    png.header = {1, 1, 16, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 0, 0, 0};
    const std::array<std::uint16_t, 4> samples{65535, 32768, 1, 32767};
    png.samples.resize(sizeof samples);
    std::memcpy(png.samples.data(), samples.data(), sizeof samples);
    png.write(path);
    const float a = 32767.0F / 65535;
    EXPECT_EQ(pixels()[0], (RgbaF32{a, 32768.0F / 65535 * a, 1.0F / 65535 * a, a}));
}

TEST_F(PngFile, with_a_palette_is_read_with_its_transparency) {
    png.header = {3, 1, 2, SPNG_COLOR_TYPE_INDEXED, 0, 0, 0};
    png.palette.n_entries = 3;
    png.palette.entries[0] = {255, 0, 0, 0};
    png.palette.entries[1] = {0, 255, 0, 0};
    png.palette.entries[2] = {0, 0, 255, 0};
    png.transparency.n_type3_entries = 2;
    png.transparency.type3_alpha[0] = 255;
    png.transparency.type3_alpha[1] = 51;
    png.samples = {0b00011000}; // palette entries 0, 1 and 2
    png.write(path);
    const float a = 51.0F / 255;
    EXPECT_THAT(pixels(), testing::ElementsAre(RgbaF32{1, 0, 0, 1}, RgbaF32{0, a, 0, a},
                                               RgbaF32{0, 0, 1, 1}));
}

TEST_F(PngFile, with_few_bits_or_interlacing_is_read) {
    for (const std::uint8_t interlaced : {0, 1}) {
        for (const std::uint8_t bits : {1, 2, 4}) {
            Png file;
            file.header = {5, 9, bits, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, 0};
            file.header.interlace_method = interlaced;
            file.samples.assign(static_cast<std::size_t>((5 * bits + 7) / 8 * 9), 0xff);
            file.write(path);
            EXPECT_EQ(pixels(), std::vector<RgbaF32>(45, RgbaF32{1, 1, 1, 1})) << int{bits};
        }
    }
}

TEST_F(PngFile, clamps_values_out_of_range) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    write({5, 1},
          {{-1, 2, 0.5F, 1}, {1, 1, 1, 2}, {1, 1, 1, 0}, {nan, infinity, 1, 1}, {1, 1, 1, nan}});
    EXPECT_THAT(pixels(), testing::ElementsAre(RgbaF32{0, 1, 128.0F / 255, 1},
                                               RgbaF32{128.0F / 255, 128.0F / 255, 128.0F / 255, 1},
                                               RgbaF32{}, RgbaF32{0, 1, 1, 1}, RgbaF32{}));
}

TEST_F(PngFile, drops_depth) {
    Image image({1, 1}, rgba_depth_f32);
    image.pixels<RgbaDepthF32>()[0] = {0.2F, 0.4F, 0, 0.4F, 17};
    format::write_image(path, image);
    const RgbaF32 read = pixels()[0];
    EXPECT_NEAR(read.r, 0.2, 1e-3);
    EXPECT_NEAR(read.g, 0.4, 1e-6);
    EXPECT_NEAR(read.a, 0.4, 1e-6);
}

TEST_F(PngFile, is_the_same_whether_encoded_in_memory_or_in_a_file) {
    for (const ImageShape shape : {ImageShape{1, 1}, {397, 301}}) {
        const Image image = any_colours(shape, 6);
        format::write_image(path, image);
        EXPECT_TRUE(format::encode_png(image) == content(path)) << shape.width;
    }
}

TEST_F(PngFile, too_small_for_its_stated_size_is_rejected) {
    png.samples.assign(8, 0);
    png.write(path);
    std::string bytes = content(path);
    // Changes the size to 65536×65536 and updates the checksum of the header.
    bytes.replace(16, 8, std::string("\0\1\0\0\0\1\0\0", 8));
    bytes.replace(
        29, 4,
        Bytewise(std::endian::big).put<std::uint32_t>(png_checksum(bytes.substr(12, 17))).bytes());
    fill_file(path, bytes);
    EXPECT_THAT(reading_fails(), HasSubstr("too few for the 17179869184 bytes of pixels"));
}

TEST_F(PngFile, too_small_for_its_many_pixels_is_rejected_before_decoding) {
    png.header = {16000, 16000, 1, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, 0}; // 4 GB as rgba f32
    png.samples.assign(2000 * 16000, 0);
    png.write(path);
    EXPECT_THAT(reading_fails(), HasSubstr("has 256000000 pixels in"));
    png.header = {8192, 8192, 1, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, 0};
    png.samples.assign(1024 * 8192, 0);
    png.write(path);
    EXPECT_EQ(format::read_header(path).shape, (ImageShape{8192, 8192}));
}

TEST_F(PngFile, without_its_end_marker_is_rejected) {
    format::write_image(path, any_colours({9, 9}, 1));
    const std::string bytes = content(path);
    fill_file(path, bytes.substr(0, bytes.size() - 12));
    EXPECT_THAT(reading_fails(), HasSubstr("cannot be read as PNG"));
}

TEST_F(PngFile, that_is_not_png_is_rejected) {
    fill_file(path, "GIF89a and more that is no PNG");
    EXPECT_EQ(reading_fails(), path + ": cannot be read as PNG: invalid signature");
}

} // namespace
} // namespace sextant::test
