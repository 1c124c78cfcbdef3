// SPDX-License-Identifier: BSD-3-Clause
// Series with one file per frame, and the PNG and JPEG files that they often consist of.
#include "sextant/format/sequence.hpp"

#include "sextant/format/catalogue.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/jpeg_files.hpp"
#include "tests/format/png_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const ImageShape shape{13, 7};

class Sequence : public testing::Test {
  protected:
    void write(const std::string& name, std::int64_t frame, ImageShape of = shape) {
        const auto sink = format::create_frames(folder.path(name), {1, of, Sample::u16, 1, {}, {}});
        sink->write(pattern_frame<float>(frame, of));
        sink->commit();
    }
    TemporaryFolder folder;
};

TEST_F(Sequence, of_a_folder_is_in_natural_order) {
    for (int frame = 0; frame < 12; ++frame)
        write("f" + std::to_string(frame) + ".png", frame);
    fill_file(folder.path("notes.md"), "no frame");
    fill_file(folder.path(".hidden.png"), "no frame");
    const auto source = format::open_frames(folder.path());
    EXPECT_EQ(source->header().frames, 12);
    EXPECT_EQ(source->header().sample, Sample::u16);
    EXPECT_TRUE(holds_pattern(*source));
    EXPECT_EQ(format::format_of_frames(folder.path()), "PNG files");
}

TEST_F(Sequence, of_wildcards_numbers_or_a_list_contains_the_named_files) {
    for (const int number : {8, 9, 10, 12})
        write("f" + std::to_string(number) + ".tif", number == 12 ? 3 : number - 8);
    write("other.tif", 0);
    for (const std::string name : {"f*.tif", "f%d.tif", "f[0-9]*.tif"}) {
        const auto source = format::open_frames(folder.path(name));
        EXPECT_EQ(source->header().frames, 4) << name;
        EXPECT_TRUE(holds_pattern(*source)) << name;
    }
    EXPECT_EQ(remarks(*format::open_frames(folder.path("f%d.tif"))),
              "1 of the files numbered 8 to 12 are missing");
    EXPECT_EQ(format::open_frames(folder.path("f%02d.tif"))->header().frames, 2);
    fill_file(folder.path("list.txt"), "# best ones\nother.tif\r\n\nf9.tif\n");
    const auto listed = format::open_frames(folder.path("list.txt"));
    EXPECT_EQ(listed->header().frames, 2);
    EXPECT_TRUE(holds_pattern(*listed));
    fill_file(folder.path("list.txt"), "\xef\xbb\xbf" // with the byte order mark of Windows editors
                                       "other.tif\r\nf9.tif\r\n");
    EXPECT_TRUE(holds_pattern(*format::open_frames(folder.path("list.txt"))));
}

TEST_F(Sequence, of_files_of_any_format_is_an_array_of_all_frames) {
    for (const std::string file : {"npy", "h5", "nii", "tif", "mrc", "png"}) {
        for (int frame = 0; frame < 3; ++frame)
            write(fmt::format("{}_{}.{}", file, frame, file), frame);
        const auto array = format::open_array(folder.path(file + "_*." + file), {}, 0);
        EXPECT_EQ(array->header().lengths,
                  (std::vector<std::int64_t>{3, shape.height, shape.width}))
            << file;
        EXPECT_EQ(array->header().names, (std::vector<std::string>{"t", "y", "x"})) << file;
        std::vector<std::uint16_t> samples(static_cast<std::size_t>(3 * shape.elements()));
        array->read({{0, 0, 0}, array->header().lengths},
                    std::as_writable_bytes(std::span(samples)));
        for (int frame = 0; frame < 3; ++frame)
            EXPECT_EQ(samples[static_cast<std::size_t>(frame * shape.elements())],
                      pattern_frame<float>(frame, shape)[0])
                << file << ' ' << frame;
    }
}

TEST_F(Sequence, warns_about_files_with_another_pixel_size) {
    const auto sized = [&](int number, const PixelSize& pixel) {
        const auto sink = format::create_frames(folder.path(fmt::format("f{}.tif", number)),
                                                {1, shape, Sample::u16, 1, pixel, {}});
        sink->write(pattern_frame<float>(number, shape));
        sink->commit();
    };
    for (int number = 0; number < 40; ++number)
        sized(number, number == 6 ? PixelSize{500, 500, "pm"} : PixelSize{.5, .5, "nm"});
    EXPECT_EQ(remarks(*format::open_frames(folder.path())), "");
    sized(39, {.5, .25, "nm"});
    EXPECT_THAT(remarks(*format::open_frames(folder.path())),
                HasSubstr("f39.tif states a pixel size of 0.5 by 0.25 nm, but"));
    sized(39, {});
    EXPECT_THAT(remarks(*format::open_frames(folder.path())),
                HasSubstr("f39.tif states no pixel size, but"));
    fill_file(folder.path("f39.tif"), "no TIFF");
    EXPECT_EQ(remarks(*format::open_frames(folder.path())), ""); // reported when it is read
}

TEST_F(Sequence, refuses_missing_unsupported_and_mixed_files) {
    const auto refuses = [&](const std::string& name, const std::string& text) {
        EXPECT_THAT(failure([&] { format::open_frames(folder.path(name)); }), HasSubstr(text));
    };
    refuses("a*.png", "matches no file");
    refuses("a%d.png", "matches no file");
    refuses("nowhere.png", "no such file");
    refuses("nowhere.xyz", "no such file");
    fill_file(folder.path("a.xyz"), "frames?");
    refuses("a.xyz",
            "is not in a known frame format: its extension is \".xyz\", expected one of .tif");
    refuses("", "is a folder without frame files");
    write("a.png", 0);
    write("b.tif", 0);
    refuses("", "contains a.png (PNG) and b.tif (TIFF), expected one format");
    fill_file(folder.path("list.txt"), "a.png\nnotes.md\n");
    refuses("list.txt", "notes.md: is not in a known frame format");
    fill_file(folder.path("empty.txt"), "\n");
    refuses("empty.txt", "lists no file");
}

TEST_F(Sequence, names_a_file_that_is_damaged_or_of_another_size) {
    for (int frame = 0; frame < 4; ++frame)
        write("f" + std::to_string(frame) + ".png", frame);
    write("f1.png", 1, {13, 6});
    const std::string whole = content(folder.path("f2.png"));
    fill_file(folder.path("f2.png"), whole.substr(0, whole.size() / 2));
    const auto source = format::open_frames(folder.path());
    EXPECT_EQ(failure([&] { read_frame(*source, 1); }),
              folder.path("f1.png") + ": frame 1 is 13×6, expected 13×7");
    EXPECT_THAT(failure([&] { read_frame(*source, 2); }), StartsWith(folder.path("f2.png")));
    EXPECT_EQ(read_frame(*source, 3), pattern_frame<float>(3, shape));
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, shape));
    write_pattern(folder.path("f0.tif"), {2, shape, Sample::u8, 1, {}, {}});
    EXPECT_THAT(failure([&] { format::open_frames(folder.path("f*.tif")); }),
                HasSubstr("holds 2 frames, expected one in each file of a series"));
}

TEST(NaturalOrder, compares_numbers_as_numbers) {
    const std::vector<std::string> ordered{"a", "a1", "a2b", "a2c1", "a10", "a010b", "b"};
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        for (std::size_t j = 0; j < ordered.size(); ++j)
            EXPECT_EQ(format::naturally_before(ordered[i], ordered[j]), i < j) << i << " " << j;
    }
    EXPECT_NE(format::naturally_before("f01", "f1"), format::naturally_before("f1", "f01"));
}

TEST_F(Sequence, reads_every_kind_of_png) {
    const std::string path = folder.path("a.png");
    Png{.header = {2, 2, 8, SPNG_COLOR_TYPE_TRUECOLOR, 0, 0, 0},
        .samples = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
        .resolution = spng_phys{4000, 2000, 1}}
        .write(path);
    const auto colour = format::open_frames(path);
    EXPECT_EQ(colour->header().channels, 3);
    EXPECT_EQ(colour->header().pixel, (PixelSize{1.0 / 4000, 1.0 / 2000, "m"}));
    EXPECT_FLOAT_EQ(read_frame(*colour, 0)[3], luminance(10, 11, 12));
    Png{{2, 1, 16, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 0, 0, 0}, {1, 1, 0, 0, 0, 2, 9, 9}}.write(path);
    EXPECT_EQ(read_frame(*format::open_frames(path), 0), (std::vector<float>{257, 512}));
    Png{{9, 1, 1, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, 0}, {0b10100000, 0b10000000}}.write(path);
    EXPECT_EQ(read_frame(*format::open_frames(path), 0),
              (std::vector<float>{255, 0, 255, 0, 0, 0, 0, 0, 255}));
    Png{{2, 1, 8, SPNG_COLOR_TYPE_INDEXED, 0, 0, 0}, {1, 0}, two_colours}.write(path);
    EXPECT_FLOAT_EQ(read_frame(*format::open_frames(path), 0)[0], luminance(200, 100, 50));
}

/// A PNG chunk: its length, kind, bytes and checksum.
void put_chunk(Bytewise& file, const std::string& kind, const std::string& bytes) {
    file.put<std::uint32_t>(static_cast<std::uint32_t>(bytes.size()))
        .text(kind + bytes)
        .put<std::uint32_t>(png_checksum(kind + bytes));
}

/// A zlib stream that stores its bytes uncompressed.
std::string stored_stream(const std::string& bytes) {
    std::uint32_t low = 1, high = 0;
    for (const char byte : bytes) {
        low = (low + static_cast<unsigned char>(byte)) % 65521;
        high = (high + low) % 65521;
    }
    const auto size = static_cast<std::uint16_t>(bytes.size());
    const auto complement = static_cast<std::uint16_t>(~size);
    const std::string head =
        Bytewise().put<std::uint16_t>(size).put<std::uint16_t>(complement).bytes();
    return "\x78\x01\x01" + head + bytes +
           Bytewise(std::endian::big).put<std::uint32_t>(high << 16 | low).bytes();
}

TEST_F(Sequence, reads_interlaced_png_row_by_row) {
    Bytewise file(std::endian::big);
    file.text("\x89PNG\r\n\x1a\n");
    const std::string interlaced("\0\0\0\2\0\0\0\2\x08\0\0\0\1", 13);
    put_chunk(file, "IHDR", interlaced);
    // The passes of 2×2 interlaced pixels are the first pixel, the second pixel and the lower row;
    // each row begins with its filter type.
    put_chunk(file, "IDAT", stored_stream(std::string("\0\x0a\0\x14\0\x1e\x28", 7)));
    put_chunk(file, "IEND", "");
    const std::string path = folder.path("a.png");
    fill_file(path, file.bytes());
    const auto source = format::open_frames(path);
    EXPECT_EQ(read_rows(*source, 0, {1, 2}), (std::vector<float>{30, 40}));
    EXPECT_EQ(read_frame(*source, 0), (std::vector<float>{10, 20, 30, 40}));
}

TEST_F(Sequence, reads_grey_and_colour_jpeg) {
    const std::string path = folder.path("a.jpg");
    for (const bool progressive : {false, true}) {
        std::vector<unsigned char> samples;
        for (int i = 0; i < 40 * 30; ++i)
            samples.push_back(static_cast<unsigned char>(i % 40 * 4 + i / 40));
        write_jpeg(path, 40, 30, 1, samples, progressive);
        const auto source = format::open_frames(path);
        EXPECT_EQ(source->header().shape, (ImageShape{40, 30}));
        const auto values = read_frame(*source, 0);
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(values[i], samples[i], 2);
        EXPECT_EQ(read_rows(*source, 0, {20, 30}),
                  std::vector<float>(values.begin() + 800, values.end()));
        EXPECT_EQ(read_rows(*source, 0, {3, 4}),
                  std::vector<float>(values.begin() + 120, values.begin() + 160));
        write_jpeg(path, 20, 20, 3, samples, progressive);
        const auto colour = format::open_frames(path);
        EXPECT_EQ(colour->header().channels, 3);
        EXPECT_EQ(colour->header().sample, Sample::u8);
    }
}

TEST_F(Sequence, refuses_progressive_jpeg_too_small_for_its_pixels) {
    const std::string path = folder.path("a.jpg");
    write_jpeg(path, 8, 8, 1, std::vector<unsigned char>(64, 99), true);
    std::string bytes = content(path);
    const std::size_t frame = bytes.find("\xff\xc2");
    ASSERT_NE(frame, std::string::npos);
    bytes.replace(frame + 5, 4, "\x75\x30\x75\x30"); // 30000 by 30000 pixels, which need 1.8 GB
    fill_file(path, bytes + std::string(600000, '\0'));
    EXPECT_THAT(failure([&] { format::open_frames(path); }),
                HasSubstr("too few for the 1800000000 bytes"));
}

TEST_F(Sequence, refuses_truncated_jpeg) {
    const std::string path = folder.path("a.jpg");
    write_jpeg(path, 64, 64, 1, std::vector<unsigned char>(64 * 64, 99), false);
    std::vector<unsigned char> noise;
    Random random(3);
    for (int i = 0; i < 64 * 64; ++i)
        noise.push_back(static_cast<unsigned char>(random.number(0, 255)));
    write_jpeg(path, 64, 64, 1, noise, false);
    const std::string whole = content(path);
    fill_file(path, whole.substr(0, whole.size() / 2));
    const auto source = format::open_frames(path);
    EXPECT_NO_THROW(read_rows(*source, 0, {0, 8}));
    EXPECT_THAT(failure([&] { read_frame(*source, 0); }),
                StartsWith(path + ": cannot be read as JPEG: "));
}

} // namespace
} // namespace sextant::test
