// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/formats.hpp"

#include <memory>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_bytes.hpp"
#include <gmock/gmock.h>
#include <tiffio.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TiffFrames : public testing::Test {
  protected:
    std::unique_ptr<FrameSource> open(const std::string& bytes) {
        fill_file(path, bytes);
        return format::open_frames(path);
    }
    TemporaryFolder folder;
    std::string path = folder.path("a.tif");
    ImageShape shape{13, 7};
};

TEST_F(TiffFrames, in_colour_are_read_as_their_luminance) {
    TiffBytes file(std::endian::little, false);
    file.add({{2, 1}, 8, 1, 2, 3}, std::string("\x0a\x14\x1e\xff\xff\xff", 6));
    const auto source = open(file.bytes());
    EXPECT_EQ(source->header().channels, 3);
    const std::vector<float> grey = read_frame(*source, 0);
    EXPECT_FLOAT_EQ(grey[0], luminance(10, 20, 30));
    EXPECT_FLOAT_EQ(grey[1], 255);
}

TEST_F(TiffFrames, with_white_as_zero_are_inverted) {
    TiffBytes file(std::endian::big, false);
    file.add({{2, 1}, 16, 1, 0},
             Bytewise(std::endian::big).put<std::uint16_t>(0).put<std::uint16_t>(65534).bytes());
    EXPECT_EQ(read_frame(*open(file.bytes()), 0), (std::vector<float>{65535, 1}));
}

TEST_F(TiffFrames, of_floats_are_not_inverted) {
    TiffBytes halves(std::endian::little, false);
    halves.add({{2, 1}, 16, 3, 0},
               Bytewise().put<std::uint16_t>(0x3c00).put<std::uint16_t>(0xc000).bytes());
    EXPECT_EQ(read_frame(*open(halves.bytes()), 0), (std::vector<float>{1, -2}));
    TiffBytes floats(std::endian::little, false);
    floats.add({{2, 1}, 32, 3, 0}, Bytewise().put<float>(1.5F).put<float>(-2).bytes());
    EXPECT_EQ(read_frame(*open(floats.bytes()), 0), (std::vector<float>{1.5F, -2}));
}

TEST_F(TiffFrames, have_the_pixel_size_stated_by_image_j) {
    TiffBytes file(std::endian::little, false);
    const std::string text = "ImageJ=1.53t\nimages=1\nunit=\\u00B5m\n";
    file.add({shape, 8, 1, 1, 1, 0, text, 4}, pattern_bytes<std::uint8_t>(0, shape));
    EXPECT_EQ(open(file.bytes())->header().pixel, (PixelSize{.25, .25, "µm"}));
}

TEST_F(TiffFrames, have_the_pixel_size_stated_by_ome) {
    TiffBytes file(std::endian::little, false);
    const std::string text = "<?xml version=\"1.0\"?><OME><Pixels PhysicalSizeX=\"0.5\" "
                             "PhysicalSizeY=\"0.25\" PhysicalSizeXUnit=\"nm\" "
                             "PhysicalSizeYUnit=\"nm\"/></OME>";
    file.add({shape, 8, 1, 1, 1, 0, text}, pattern_bytes<std::uint8_t>(0, shape));
    EXPECT_EQ(open(file.bytes())->header().pixel, (PixelSize{.5, .25, "nm"}));
}

TEST_F(TiffFrames, have_the_pixel_size_of_a_resolution_per_centimetre) {
    TiffBytes file(std::endian::little, true);
    file.add({shape, 8, 1, 1, 1, 0, "", 1000}, pattern_bytes<std::uint8_t>(0, shape));
    EXPECT_EQ(open(file.bytes())->header().pixel, (PixelSize{.001, .001, "cm"}));
}

TEST_F(TiffFrames, after_the_single_page_of_an_image_j_stack_are_found) {
    TiffBytes file(std::endian::big, false);
    const std::string text = "ImageJ=1.53t\nimages=5\nslices=5\n";
    std::string samples;
    for (int frame = 0; frame < 5; ++frame)
        samples += pattern_bytes<std::uint16_t>(frame, shape, std::endian::big);
    const std::size_t first = samples.size() / 5;
    // The directory describes only the first frame; the others follow its samples.
    TiffBytes one(std::endian::big, false);
    one.add({shape, 16, 1, 1, 1, 0, text}, samples.substr(0, first));
    TiffBytes all(std::endian::big, false);
    all.add({shape, 16, 1, 1, 1, 0, text}, samples);
    std::string bytes = all.bytes();
    const std::string count = Bytewise(std::endian::big)
                                  .put<std::uint32_t>(static_cast<std::uint32_t>(samples.size()))
                                  .bytes();
    const std::string less =
        Bytewise(std::endian::big).put<std::uint32_t>(static_cast<std::uint32_t>(first)).bytes();
    bytes.replace(bytes.rfind(count), 4, less);
    const auto source = open(bytes);
    EXPECT_EQ(source->header().frames, 5);
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(TiffFrames, do_not_include_thumbnails) {
    TiffBytes file(std::endian::little, false);
    file.add({shape, 8}, pattern_bytes<std::uint8_t>(0, shape));
    file.add({{3, 2}, 8, 1, 1, 1, 1}, "thumbs");
    file.add({shape, 8}, pattern_bytes<std::uint8_t>(1, shape));
    const auto source = open(file.bytes());
    EXPECT_EQ(source->header().frames, 2);
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(TiffFrames, of_another_size_are_unreadable_with_a_remark) {
    TiffBytes file(std::endian::little, false);
    file.add({shape, 8}, pattern_bytes<std::uint8_t>(0, shape));
    file.add({{13, 6}, 8}, pattern_bytes<std::uint8_t>(1, {13, 6}));
    file.add({shape, 16}, pattern_bytes<std::uint16_t>(2, shape));
    file.add({shape, 8}, pattern_bytes<std::uint8_t>(3, shape));
    const auto source = open(file.bytes());
    EXPECT_EQ(source->header().frames, 4);
    EXPECT_EQ(remarks(*source), "frame 1 is 13×6, expected 13×7");
    EXPECT_EQ(failure([&] { read_frame(*source, 1); }), path + ": frame 1 is 13×6, expected 13×7");
    EXPECT_EQ(failure([&] { read_frame(*source, 2); }),
              path + ": frame 2 has 1 samples of u16 per pixel, expected 1 of u8");
    EXPECT_EQ(read_frame(*source, 3), pattern_frame<float>(3, shape));
}

TEST_F(TiffFrames, with_smaller_samples_at_the_end_are_unreadable_with_a_remark) {
    TiffBytes file(std::endian::little, false);
    file.add({shape, 64, 3}, pattern_bytes<double>(0, shape));
    file.add({shape, 8}, pattern_bytes<std::uint8_t>(1, shape));
    const auto source = open(file.bytes());
    EXPECT_EQ(source->header().frames, 2);
    EXPECT_EQ(remarks(*source), "frame 1 has 1 samples of u8 per pixel, expected 1 of f64");
    EXPECT_TRUE(read_frame(*source, 0) == pattern_frame<float>(0, shape));
}

TEST_F(TiffFrames, that_are_truncated_are_left_out_with_a_remark) {
    TiffBytes file(std::endian::little, false);
    const std::string text = "ImageJ=1.53t\nimages=3\n";
    file.add({shape, 8, 1, 1, 1, 0, text}, pattern_bytes<std::uint8_t>(0, shape));
    const std::size_t one = file.bytes().size();
    file.add({shape, 8}, pattern_bytes<std::uint8_t>(1, shape));
    const auto source = open(file.bytes().substr(0, one + 20));
    EXPECT_EQ(source->header().frames, 1);
    EXPECT_THAT(remarks(*source), StartsWith("truncated: 1 of 3 frames are complete"));
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(TiffFrames, that_overlap_the_file_header_are_left_out) {
    for (const bool big : {false, true}) {
        TiffBytes file(std::endian::little, big);
        file.add({shape, 8}, pattern_bytes<std::uint8_t>(0, shape));
        file.add({shape, 8}, pattern_bytes<std::uint8_t>(1, shape));
        std::string bytes = file.bytes();
        const std::size_t value = bytes.rfind(std::string("\x11\x01\x04\x00", 4)) + (big ? 12 : 8);
        bytes.replace(value, 4, std::string(4, '\0')); // the offset of the last strip
        const auto source = open(bytes);
        EXPECT_EQ(source->header().frames, 1);
        EXPECT_EQ(remarks(*source), "truncated: 1 of 2 frames are complete");
        EXPECT_TRUE(holds_pattern(*source));
    }
}

TEST_F(TiffFrames, are_not_searched_for_in_the_preceding_page_directory) {
    TiffBytes file(std::endian::little, false);
    const std::string text = "ImageJ=1.53t\nimages=3\n" + std::string(500, '\n');
    file.add({shape, 8, 1, 1, 1, 0, text}, pattern_bytes<std::uint8_t>(0, shape));
    const auto source = open(file.bytes());
    EXPECT_EQ(source->header().frames, 1);
    EXPECT_EQ(remarks(*source), "truncated: 1 of 3 frames are complete");
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(TiffFrames, too_large_for_their_file_are_refused) {
    constexpr int deflate = 8;
    const auto refusal = [&](const TiffBytes::Page& page) {
        TiffBytes file(std::endian::little, false);
        file.add(page, std::string(90000, 'x'));
        return failure([&] { open(file.bytes()); });
    };
    TiffBytes::Page page{{200'000'000, 1}, 8, 1};
    page.compression = deflate;
    EXPECT_THAT(refusal(page), HasSubstr("too few for the 200000000 bytes")) << "a row";
    page.shape = {60000, 60000};
    page.tile = 20000;
    EXPECT_THAT(refusal(page), HasSubstr("too few for the 1200000000 bytes")) << "a row of tiles";
    page.tile = 1024;
    EXPECT_EQ(refusal(page), "nothing was thrown");
}

TEST_F(TiffFrames, of_unsupported_kinds_are_named_in_the_error) {
    TiffBytes bits(std::endian::little, false);
    bits.add({shape, 12}, std::string(200, 'x'));
    EXPECT_THAT(failure([&] { open(bits.bytes()); }), HasSubstr("has samples of 12 bits"));
    TiffBytes many(std::endian::little, false);
    many.add({shape, 8, 1, 2, 7}, std::string(1000, 'x'));
    EXPECT_EQ(failure([&] { open(many.bytes()); }),
              path + ": has 7 samples per pixel, expected 3, or 4 with alpha");
    EXPECT_THAT(failure([&] { open("no TIFF file at all"); }),
                StartsWith(path + ": cannot be opened as TIFF"));
    EXPECT_EQ(failure([&] { format::open_frames(path + "::part"); }),
              path + ": the format has no named parts, but \"::part\" follows the file name");
}

/// A page of the pattern, written by libtiff with options that TiffBytes does not support.
struct Codec {
    const char* name;
    int compression, tile, planar;
    int predictor = PREDICTOR_NONE;
};

class TiffCodec : public testing::TestWithParam<Codec> {};

void write_by_library(const std::string& path, const Codec& codec, ImageShape shape, int channels) {
    TIFF* const file = TIFFOpen(path.c_str(), "w");
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, static_cast<int>(shape.width));
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, static_cast<int>(shape.height));
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC,
                 channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(file, TIFFTAG_COMPRESSION, codec.compression);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, codec.planar);
    if (codec.predictor != PREDICTOR_NONE)
        TIFFSetField(file, TIFFTAG_PREDICTOR, codec.predictor);
    const bool planes = codec.planar == PLANARCONFIG_SEPARATE;
    const int together = planes ? 1 : channels;
    const auto sample = [&](std::int64_t x, std::int64_t y, int channel) {
        return static_cast<std::uint16_t>(pattern(0, x, y) * static_cast<float>(channel + 1));
    };
    if (codec.tile > 0) {
        TIFFSetField(file, TIFFTAG_TILEWIDTH, codec.tile);
        TIFFSetField(file, TIFFTAG_TILELENGTH, codec.tile);
    } else {
        TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 5);
    }
    for (int plane = 0; plane < (planes ? channels : 1); ++plane) {
        const int side = codec.tile > 0 ? codec.tile : 1;
        const std::int64_t wide = codec.tile > 0 ? side : shape.width;
        for (std::int64_t y = 0; y < shape.height; y += side) {
            for (std::int64_t x = 0; x < shape.width; x += wide) {
                std::vector<std::uint16_t> piece;
                for (std::int64_t i = 0; i < side * wide; ++i) {
                    for (int c = 0; c < together; ++c)
                        piece.push_back(sample(x + i % wide, y + i / wide, plane + c));
                }
                if (codec.tile > 0)
                    TIFFWriteTile(file, piece.data(), static_cast<std::uint32_t>(x),
                                  static_cast<std::uint32_t>(y), 0,
                                  static_cast<std::uint16_t>(plane));
                else
                    TIFFWriteScanline(file, piece.data(), static_cast<std::uint32_t>(y),
                                      static_cast<std::uint16_t>(plane));
            }
        }
    }
    TIFFClose(file);
}

TEST_P(TiffCodec, decodes_grey_and_colour_frames) {
    const TemporaryFolder folder;
    const std::string path = folder.path("a.tif");
    const ImageShape shape{37, 41};
    write_by_library(path, GetParam(), shape, 1);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    write_by_library(path, GetParam(), shape, 3);
    const auto source = format::open_frames(path);
    std::vector<std::uint16_t> samples(static_cast<std::size_t>(shape.elements() * 3));
    source->read_samples(0, {0, shape.height}, std::as_writable_bytes(std::span(samples)));
    for (std::int64_t i = 0; i < 3 * shape.elements(); ++i) {
        ASSERT_EQ(samples[static_cast<std::size_t>(i)],
                  pattern(0, i / 3 % shape.width, i / 3 / shape.width) *
                      static_cast<float>(i % 3 + 1))
            << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    OfTheLibrary, TiffCodec,
    testing::Values(
        Codec{"PlainTiles", COMPRESSION_NONE, 16, PLANARCONFIG_CONTIG},
        Codec{"PlainPlanes", COMPRESSION_NONE, 0, PLANARCONFIG_SEPARATE},
        Codec{"LzwStrips", COMPRESSION_LZW, 0, PLANARCONFIG_CONTIG},
        Codec{"LzwPredicted", COMPRESSION_LZW, 0, PLANARCONFIG_CONTIG, PREDICTOR_HORIZONTAL},
        Codec{"DeflateTiles", COMPRESSION_ADOBE_DEFLATE, 16, PLANARCONFIG_CONTIG},
        Codec{"DeflatePlanesInTiles", COMPRESSION_ADOBE_DEFLATE, 32, PLANARCONFIG_SEPARATE},
        Codec{"PackbitsPlanes", COMPRESSION_PACKBITS, 0, PLANARCONFIG_SEPARATE}),
    [](const auto& test) { return test.param.name; });

} // namespace
} // namespace sextant::test
