// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/exr.hpp"

#include "sextant/format/catalogue.hpp"

#include <bit>
#include <limits>
#include <map>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfTiledOutputFile.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// A file as other programs write it: each channel has its own type and, in these tests, a constant
/// value.
struct Exr {
    Imf::Header header{4, 3};
    std::map<std::string, float> values;

    void add(const std::string& name, float value, Imf::PixelType type, int sampling = 1) {
        header.channels().insert(name, Imf::Channel(type, sampling, sampling));
        values[name] = value;
    }
    static std::uint32_t sample(float value, Imf::PixelType type) {
        if (type == Imf::UINT)
            return static_cast<std::uint32_t>(value);
        if (type == Imf::HALF)
            return half(value).bits();
        return std::bit_cast<std::uint32_t>(value);
    }
    void add_colour(Imf::PixelType type) {
        add("R", 0.25F, type);
        add("G", 0.5F, type);
        add("B", 0.75F, type);
    }
    void write(const std::string& path) {
        const Imath::Box2i window = header.dataWindow();
        const auto width = static_cast<std::size_t>(window.max.x - window.min.x + 1);
        std::map<std::string, std::vector<std::uint32_t>>
            rows; // samples of any type, 4 bytes apart
        Imf::FrameBuffer buffer;
        for (const auto& [name, value] : values) {
            const Imf::Channel& channel = header.channels()[name];
            rows[name].assign(width, sample(value, channel.type));
            auto* base = reinterpret_cast<char*>(rows[name].data()) -
                         std::ptrdiff_t{window.min.x} / channel.xSampling * 4;
            buffer.insert(
                name, Imf::Slice(channel.type, base, 4, 0, channel.xSampling, channel.ySampling));
        }
        if (header.hasTileDescription()) {
            Imf::TiledOutputFile file(path.c_str(), header);
            file.setFrameBuffer(buffer);
            file.writeTiles(0, file.numXTiles() - 1, 0, file.numYTiles() - 1);
        } else {
            Imf::OutputFile file(path.c_str(), header);
            file.setFrameBuffer(buffer);
            file.writePixels(window.max.y - window.min.y + 1);
        }
    }
};

class ExrFile : public testing::Test {
  protected:
    Image read_back() const { return format::read_image(path); }
    std::string reading_fails() const {
        return failure([&] { format::read_image(path); });
    }

    TemporaryFolder folder;
    std::string path = folder.path("image.exr");
    Exr exr;
};

TEST_F(ExrFile, keeps_every_bit_of_images_of_any_shape) {
    for (const ImageShape shape : {ImageShape{1, 1}, {997, 1}, {1, 997}, {33, 17}, {64, 48}}) {
        for (const ElementFormat& element : {rgba_f32, rgba_depth_f32}) {
            const Image image = any_bits(shape, element, 1);
            format::write_image(path, image);
            EXPECT_EQ(format::read_header(path), (format::ImageHeader{shape, element}));
            EXPECT_TRUE(same_bits(read_back(), image)) << shape.width << "×" << shape.height;
        }
    }
}

TEST_F(ExrFile, half_channels_become_floats) {
    exr.add_colour(Imf::HALF);
    exr.add("A", 1, Imf::HALF);
    exr.write(path);
    const Image image = read_back();
    ASSERT_EQ(image.element(), rgba_f32);
    for (const RgbaF32& pixel : image.pixels<RgbaF32>()) {
        EXPECT_EQ(pixel, (RgbaF32{0.25F, 0.5F, 0.75F, 1}));
    }
}

TEST_F(ExrFile, integer_depth_and_mixed_types_become_floats) {
    exr.add_colour(Imf::HALF);
    exr.add("A", 0.875F, Imf::FLOAT);
    exr.add("Z", 12, Imf::UINT);
    exr.write(path);
    const Image image = read_back();
    ASSERT_EQ(image.element(), rgba_depth_f32);
    EXPECT_EQ(image.pixels<RgbaDepthF32>()[5], (RgbaDepthF32{0.25F, 0.5F, 0.75F, 0.875F, 12}));
}

TEST_F(ExrFile, without_alpha_is_opaque) {
    exr.add_colour(Imf::FLOAT);
    exr.write(path);
    EXPECT_EQ(read_back().pixels<RgbaF32>()[11], (RgbaF32{0.25F, 0.5F, 0.75F, 1}));
}

TEST_F(ExrFile, is_read_in_every_compression_scanline_and_tiled) {
    for (int compression = 0; compression < Imf::NUM_COMPRESSION_METHODS; ++compression) {
        for (const bool tiled : {false, true}) {
            Exr file;
            file.header = Imf::Header(131, 67);
            file.header.compression() = static_cast<Imf::Compression>(compression);
            if (tiled)
                file.header.setTileDescription(Imf::TileDescription(32, 16));
            file.add_colour(Imf::HALF);
            file.add("A", 1, Imf::HALF);
            file.write(path);
            const Image image = read_back();
            ASSERT_EQ(image.shape(), (ImageShape{131, 67}));
            const RgbaF32 last = image.pixels<RgbaF32>()[131 * 67 - 1];
            EXPECT_NEAR(last.g, 0.5F, 0.01F) << "compression " << compression << " tiled " << tiled;
        }
    }
}

TEST_F(ExrFile, with_constant_colour_is_accepted_however_small_the_file_is) {
    for (const auto compression :
         {Imf::ZIP_COMPRESSION, Imf::PIZ_COMPRESSION, Imf::DWAA_COMPRESSION, Imf::DWAB_COMPRESSION,
          Imf::RLE_COMPRESSION}) {
        Exr file;
        file.header = Imf::Header(4096, 1024);
        file.header.compression() = compression;
        file.add_colour(Imf::HALF);
        file.write(path);
        EXPECT_EQ(format::read_header(path).shape, (ImageShape{4096, 1024})) << compression;
    }
}

TEST_F(ExrFile, has_transparent_infinitely_distant_pixels_outside_its_data_window) {
    exr.header = Imf::Header(Imath::Box2i({10, 20}, {14, 22}), Imath::Box2i({11, 21}, {12, 21}));
    exr.add_colour(Imf::FLOAT);
    exr.add("Z", 7, Imf::FLOAT);
    exr.write(path);
    const Image image = read_back();
    ASSERT_EQ(image.shape(), (ImageShape{5, 3}));
    for (std::size_t i = 0; i < 15; ++i) {
        const bool inside = i == 6 || i == 7;
        const RgbaDepthF32 colour{0.25F, 0.5F, 0.75F, 1, 7}, empty{0, 0, 0, 0, infinity};
        EXPECT_EQ(image.pixels<RgbaDepthF32>()[i], inside ? colour : empty) << "pixel " << i;
    }
}

TEST_F(ExrFile, is_cropped_to_its_display_window) {
    exr.header = Imf::Header(Imath::Box2i({0, 0}, {3, 2}), Imath::Box2i({-5, -6}, {1, 0}));
    exr.add_colour(Imf::FLOAT);
    exr.write(path);
    const Image image = read_back();
    ASSERT_EQ(image.shape(), (ImageShape{4, 3}));
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(image.pixels<RgbaF32>()[i].a, i < 2 ? 1.0F : 0.0F) << "pixel " << i;
    }
}

TEST_F(ExrFile, is_empty_if_its_display_and_data_windows_are_disjoint) {
    exr.header = Imf::Header(Imath::Box2i({0, 0}, {3, 2}), Imath::Box2i({10, 0}, {12, 2}));
    exr.add_colour(Imf::FLOAT);
    exr.write(path);
    EXPECT_TRUE(same_bits(read_back(), Image({4, 3}, rgba_f32)));
}

TEST_F(ExrFile, with_luminance_only_is_rejected_naming_its_channels) {
    exr.add("Y", 1, Imf::HALF);
    exr.write(path);
    EXPECT_EQ(reading_fails(), path + ": has no channel R; it has Y, expected R, G, B and "
                                      "optionally A and Z");
}

TEST_F(ExrFile, with_subsampled_channels_is_rejected) {
    exr.add("R", 1, Imf::HALF, 2);
    exr.add("G", 1, Imf::HALF);
    exr.add("B", 1, Imf::HALF);
    exr.header.dataWindow().max.y = exr.header.displayWindow().max.y = 3;
    exr.write(path);
    EXPECT_THAT(reading_fails(), HasSubstr("channel R is subsampled"));
}

TEST_F(ExrFile, invalid_or_multipart_is_rejected) {
    fill_file(path, "solid nothing like an image");
    EXPECT_EQ(reading_fails(), path + ": is not an OpenEXR file: its signature is wrong");
    fill_file(path, "");
    EXPECT_EQ(reading_fails(), path + ": ends inside its header");
    fill_file(path, std::string("\x76\x2f\x31\x01\x02\x10\x00\x00", 8));
    EXPECT_THAT(reading_fails(), HasSubstr("has several images, expected a single one"));
}

TEST_F(ExrFile, with_an_attribute_of_another_size_than_its_type_has_is_rejected) {
    // OpenEXR would read the next attributes from a wrong position, and trust a size found there.
    format::write_image(path, gradient({4, 3}, rgba_f32));
    const std::string whole = content(path);
    for (const std::string type : {"chlist", "box2i", "v2f"}) {
        std::string bytes = whole;
        char& size = bytes[bytes.find('\0' + type + '\0') + type.size() + 2];
        for (const int difference : {-1, 1, 16}) {
            const char before = size;
            size = static_cast<char>(size + difference);
            fill_file(path, bytes);
            size = before;
            EXPECT_THAT(reading_fails(), HasSubstr("bytes, which its type does not have: damaged"))
                << type << difference;
        }
    }
}

TEST_F(ExrFile, too_small_for_its_stated_size_is_rejected) {
    exr.add_colour(Imf::HALF);
    exr.write(path);
    std::string bytes = content(path);
    const std::size_t window =
        bytes.find("dataWindow") + std::string_view("dataWindow.box2i.....").size();
    bytes.replace(window + 8, 8, std::string("\xff\xff\x01\x00\xff\xff\x01\x00", 8));
    fill_file(path, bytes);
    EXPECT_THAT(reading_fails(), HasSubstr("too few for the 103079215104 bytes of pixels"));
}

TEST_F(ExrFile, changed_after_its_header_was_read_is_rejected) {
    format::write_image(path, any_bits({4, 3}, rgba_f32, 1));
    const format::ImageHeader before = format::read_header(path);
    format::write_image(path, any_bits({4, 4}, rgba_f32, 1));
    Image image(before.shape, before.element);
    EXPECT_EQ(failure([&] { format::read_pixels(path, before, image.bytes()); }),
              path + ": is 4×4 rgba f32, expected 4×3 rgba f32");
}

TEST_F(ExrFile, stores_half_floats_unchanged) {
    Image image({2, 1}, rgba_f16);
    const auto pixels = image.pixels<RgbaF16>();
    pixels[0] = {to_half(0.1F), to_half(1), to_half(0), to_half(0.5F)};
    pixels[1] = {{0x0001}, {0x7bff}, {0x8000}, to_half(1)};
    format::write_exr(path, image);
    const Imf::InputFile file(path.c_str());
    EXPECT_EQ(file.header().channels()["R"].type, Imf::HALF);
    const Image read = format::read_image(path);
    for (std::size_t i = 0; i < 2; ++i) {
        const RgbaF32 back = read.pixels<RgbaF32>()[i];
        EXPECT_EQ((RgbaF16{to_half(back.r), to_half(back.g), to_half(back.b), to_half(back.a)}),
                  pixels[i]);
    }
}

} // namespace
} // namespace sextant::test
