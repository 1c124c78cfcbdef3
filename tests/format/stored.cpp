// SPDX-License-Identifier: BSD-3-Clause
// Formats with uncompressed samples: MRC, NPY, SER, DM3, DM4 and headerless files.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/zarr_files.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::array orders{std::endian::little, std::endian::big};
const ImageShape shape{13, 7};

class StoredFrames : public testing::Test {
  protected:
    std::unique_ptr<FrameSource> open(const std::string& name, const std::string& bytes,
                                      const std::string& detail = "") {
        path = folder.path(name);
        fill_file(path, bytes);
        return format::open_frames(path + detail);
    }
    void refuses(const std::string& name, const std::string& bytes, const std::string& text,
                 const std::string& detail = "") {
        EXPECT_THAT(failure([&] { open(name, bytes, detail); }),
                    testing::AllOf(StartsWith(folder.path(name) + ": "), HasSubstr(text)));
    }
    FrameHeader path_header(const std::string& bytes) { return open("a.mrc", bytes)->header(); }
    TemporaryFolder folder;
    std::string path;
};

TEST_F(StoredFrames, in_mrc_without_a_machine_stamp_are_read_in_the_byte_order_of_their_header) {
    for (const std::endian order : orders) {
        const auto expect = [&]<class T>(T, int mode, const std::string& stamp) {
            std::string bytes = mrc_bytes(mode, 3, shape, order, stack_bytes<T>(3, shape, order));
            const std::string whole = bytes.replace(212, 2, stamp);
            EXPECT_TRUE(holds_pattern(*open("a.mrc", whole))) << mode;
            EXPECT_EQ(path_header(whole.substr(0, whole.size() - 1)).frames, 2) << mode;
            EXPECT_TRUE(holds_pattern(*open("a.mrc.gz", deflated(whole, true)))) << mode;
        };
        const std::string none(2, '\0');
        expect(std::int8_t{}, 0, none);
        expect(std::int16_t{}, 1, none);
        expect(float{}, 2, none);
        expect(std::uint16_t{}, 6, none);
        // A stamp is not believed if the header makes sense only in the other order.
        expect(std::int16_t{}, 1, order == std::endian::little ? "\x11\x11" : "\x44\x44");
    }
}

TEST_F(StoredFrames, in_mrc_may_have_four_bits) {
    for (const ImageShape size : {ImageShape{13, 7}, ImageShape{12, 7}, ImageShape{1, 3}}) {
        std::string samples;
        std::vector<std::vector<float>> expected(3);
        for (std::int64_t frame = 0; frame < 3; ++frame) {
            for (std::int64_t y = 0; y < size.height; ++y) {
                unsigned two = 0;
                for (std::int64_t x = 0; x < size.width; ++x) {
                    const auto value = static_cast<unsigned>(pattern(frame, x, y)) % 16;
                    expected[static_cast<std::size_t>(frame)].push_back(static_cast<float>(value));
                    two = x % 2 == 0 ? value : two | value << 4;
                    if (x % 2 == 1 || x + 1 == size.width)
                        samples += static_cast<char>(two);
                }
            }
        }
        for (const std::endian order : orders) {
            std::string bytes = mrc_bytes(101, 3, size, order, samples);
            const auto expect = [&](const std::string& name, const std::string& file) {
                const auto source = open(name, file);
                EXPECT_EQ(source->header().sample, Sample::u8);
                EXPECT_EQ(source->header().shape, size);
                EXPECT_EQ(source->header().pixel, (PixelSize{2, 4, "Å"}));
                for (std::int64_t frame = 2; frame >= 0; --frame)
                    EXPECT_EQ(read_frame(*source, frame),
                              expected[static_cast<std::size_t>(frame)]);
                EXPECT_EQ(read_rows(*source, 1, {1, 2}),
                          std::vector<float>(expected[1].begin() + size.width,
                                             expected[1].begin() + 2 * size.width));
            };
            expect("a.mrc", bytes);
            expect("a.mrc.gz", deflated(bytes, true));
            EXPECT_EQ(remarks(*open("a.mrc", bytes.substr(0, bytes.size() - 1))),
                      "truncated: 2 of 3 frames are complete");
            if (size.width % 2 != 0)
                continue;
            // Before mode 101, two samples were stored in a byte of mode 0, which a flag states.
            bytes = mrc_bytes(0, 3, {size.width / 2, size.height}, order, samples);
            bytes.replace(40, 4, Bytewise(order).put<float>(2.F * size.width / 2).bytes());
            bytes.replace(
                152, 8,
                Bytewise(order).put<std::int32_t>(1146047817).put<std::int32_t>(16).bytes());
            expect("a.mrc", bytes);
        }
    }
}

TEST_F(StoredFrames, in_mrc_may_be_compressed) {
    const auto order = std::endian::little;
    const std::string bytes =
        mrc_bytes(1, 5, shape, order, stack_bytes<std::int16_t>(5, shape, order), 300);
    const std::string streams = by_bzip2(bytes.substr(0, 700)) + by_bzip2(bytes.substr(700));
    for (const auto& [name, stored] : {std::pair("a.mrc.gz", deflated(bytes, true)),
                                       {"a.map.gz", deflated(bytes, true)},
                                       {"a.mrcs.bz2", by_bzip2(bytes)},
                                       {"a.mrc.bz2", streams + "and something else"},
                                       // The content decides, not the extension.
                                       {"a.mrc", by_bzip2(bytes)},
                                       {"a.mrc.bz2", deflated(bytes, true)},
                                       {"a.mrc.gz", bytes}}) {
        const auto source = open(name, stored);
        EXPECT_EQ(source->header().frames, 5) << name;
        EXPECT_TRUE(holds_pattern(*source)) << name;
    }
    const std::string late = by_bzip2(bytes.substr(0, 1400)) + by_bzip2(bytes.substr(1400));
    for (const std::string& stored : {deflated(bytes, true), late}) {
        const auto cut = open("a.mrc.gz", stored.substr(0, stored.size() - 20));
        EXPECT_THAT(failure([&] { read_frame(*cut, 4); }), HasSubstr("truncated: its compressed "));
        std::string damaged = stored;
        damaged[stored.size() - 5] ^= 1; // a checksum
        const auto source = open("a.mrc.gz", damaged);
        EXPECT_THAT(failure([&] { read_frame(*source, 4); }), HasSubstr("cannot be decompressed"));
        refuses("a.mrc.gz", stored.substr(0, 12), "has 0 bytes, expected an MRC header of 1024");
    }
}

TEST_F(StoredFrames, in_mrc_with_the_width_of_a_signature_are_not_taken_for_compressed) {
    const ImageShape wide{0x8b1f, 2}; // begins with the first two bytes of gzip
    const auto little = std::endian::little;
    EXPECT_TRUE(holds_pattern(
        *open("a.mrc", mrc_bytes(0, 1, wide, little, stack_bytes<std::int8_t>(1, wide, little)))));
}

TEST_F(StoredFrames, in_compressed_mrc_are_refused_if_they_are_out_of_proportion_to_the_file) {
    for (const int mode : {2, 101}) {
        const std::string bytes =
            mrc_bytes(mode, 1000, {100000, 100000}, std::endian::little, std::string(4000, '\0'));
        for (const std::string& stored : {deflated(bytes, true), by_bzip2(bytes)})
            refuses("a.mrc.gz", stored, "too few for the ");
    }
}

TEST_F(StoredFrames, of_an_mrc_map_have_the_pixels_of_the_axes_that_are_their_columns_and_rows) {
    std::string bytes = mrc_bytes(1, 3, shape, std::endian::little,
                                  stack_bytes<std::int16_t>(3, shape, std::endian::little));
    // Columns are along z, rows along x, and sections along y.
    bytes.replace(28, 24,
                  Bytewise()
                      .put_all(std::vector<std::int32_t>{7, 3, 13})
                      .put_all(std::vector<float>{14, 9, 52})
                      .bytes());
    bytes.replace(64, 12, Bytewise().put_all(std::vector<std::int32_t>{3, 1, 2}).bytes());
    EXPECT_EQ(open("a.map", bytes)->header().pixel, (PixelSize{4, 2, "Å"}));
    EXPECT_EQ(open("a.map", bytes)->header().slice_distance, 3);
}

TEST_F(StoredFrames, of_tiff_with_a_pixel_size_per_centimetre_keep_it_in_mrc) {
    write_pattern(folder.path("a.mrc"), {1, shape, Sample::i16, 1, {1e-7, 2e-7, "cm"}, {}});
    const PixelSize pixel = format::open_frames(folder.path("a.mrc"))->header().pixel;
    EXPECT_FLOAT_EQ(static_cast<float>(pixel.x), 10);
    EXPECT_FLOAT_EQ(static_cast<float>(pixel.y), 20);
}

TEST_F(StoredFrames, in_mrc_are_found_after_a_large_extended_header) {
    const auto order = std::endian::big;
    const auto source =
        open("a.mrc",
             mrc_bytes(1, 2, shape, order, stack_bytes<std::int16_t>(2, shape, order), 1000000));
    EXPECT_EQ(source->header().frames, 2);
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(StoredFrames, in_mrc_are_unsigned_bytes_if_written_by_imod) {
    std::string bytes = mrc_bytes(0, 1, {2, 1}, std::endian::little, std::string("\x80\xff", 2));
    EXPECT_EQ(read_frame(*open("a.mrc", bytes), 0), (std::vector<float>{-128, -1}));
    bytes.replace(152, 4, Bytewise().put<std::int32_t>(1146047817).bytes());
    EXPECT_EQ(read_frame(*open("a.mrc", bytes), 0), (std::vector<float>{128, 255}));
}

TEST_F(StoredFrames, beyond_the_end_of_a_file_are_left_out_with_a_remark) {
    const auto order = std::endian::little;
    const std::string bytes =
        mrc_bytes(1, 20, shape, order, stack_bytes<std::int16_t>(20, shape, order));
    const auto source = open("a.mrc", bytes.substr(0, bytes.size() - 2 * 2 * 91 - 1));
    EXPECT_EQ(source->header().frames, 17);
    EXPECT_EQ(remarks(*source), "truncated: 17 of 20 frames are complete");
    EXPECT_TRUE(holds_pattern(*source));
    refuses("a.mrc", bytes.substr(0, 1100),
            "has no frame that can be read: truncated: 0 of 20 frames are complete");
}

TEST_F(StoredFrames, in_invalid_mrc_files_are_refused) {
    const auto order = std::endian::little;
    refuses("a.mrc", "short", "has 5 bytes, expected an MRC header of 1024");
    refuses("a.mrc", mrc_bytes(4, 1, shape, order, ""),
            "is of MRC mode 4 (complex numbers), expected 0, 1, 2, 6, 12 or 101");
    refuses("a.mrc", mrc_bytes(1, 1, {-3, 7}, order, ""), "is -3×7");
    refuses("a.mrc", mrc_bytes(1, 0, shape, order, ""), "has 0 frames");
    std::string long_header = mrc_bytes(1, 1, shape, order, "");
    long_header.replace(92, 4, Bytewise().put<std::int32_t>(0x7fffffff).bytes());
    refuses("a.mrc", long_header, "extended header of 2147483647 bytes");
}

TEST_F(StoredFrames, with_invalid_pixel_sizes_have_no_pixel_size) {
    for (const float cell : {std::numeric_limits<float>::infinity(), 1e30F, 1e-30F, -1e25F}) {
        std::string bytes = mrc_bytes(0, 1, shape, std::endian::little, std::string(91, '\0'));
        bytes.replace(40, 4, Bytewise().put<float>(cell).bytes());
        const auto source = open("a.mrc", bytes);
        EXPECT_FALSE(source->header().pixel.known()) << cell;
        EXPECT_THAT(remarks(*source), HasSubstr("is implausible")) << cell;
    }
}

TEST_F(StoredFrames, of_an_mrc_volume_have_a_distance) {
    for (const std::endian order : orders) {
        std::string bytes =
            mrc_bytes(1, 3, shape, order, stack_bytes<std::int16_t>(3, shape, order));
        bytes.replace(48, 4, Bytewise(order).put<float>(18).bytes()); // the depth of the cell
        EXPECT_EQ(open("a.mrc", bytes)->header().slice_distance, 0) << "a stack of images";
        bytes.replace(36, 4, Bytewise(order).put<std::int32_t>(3).bytes());
        EXPECT_EQ(open("a.mrc", bytes)->header().slice_distance, 6);
        bytes.replace(48, 4, Bytewise(order).put<float>(1e30F).bytes());
        EXPECT_EQ(open("a.mrc", bytes)->header().slice_distance, 0) << "implausible";
    }
}

TEST_F(StoredFrames, are_written_to_mrc_as_its_standard_says) {
    path = folder.path("a.mrc");
    write_pattern(path, {3, shape, Sample::f16, 1, {.2, .4, "nm"}, {}});
    EXPECT_EQ(content(path).substr(108, 4), Bytewise().put<std::int32_t>(20140).bytes());
    EXPECT_EQ(content(path).substr(208, 6), "MAP \x44\x44");
    const auto source = format::open_frames(path);
    EXPECT_FLOAT_EQ(static_cast<float>(source->header().pixel.x), 2);
    EXPECT_FLOAT_EQ(static_cast<float>(source->header().pixel.y), 4);
}

TEST_F(StoredFrames, in_npy_of_booleans_are_read_as_zeros_and_ones) {
    for (const std::string type : {"|b1", "?", "bool"}) {
        EXPECT_EQ(read_frame(*open("a.npy", npy_bytes(type, false, "2, 2", {"\0\1\2\xff", 4})), 0),
                  (std::vector<float>{0, 1, 1, 1}));
    }
}

TEST_F(StoredFrames, in_npy_are_read_in_fortran_order) {
    for (const std::int64_t frames : {1, 3}) {
        Bytewise samples(std::endian::big);
        for (std::int64_t x = 0; x < shape.width; ++x) {
            for (std::int64_t y = 0; y < shape.height; ++y) {
                for (std::int64_t frame = 0; frame < frames; ++frame)
                    samples.put<std::int16_t>(static_cast<std::int16_t>(pattern(frame, x, y)));
            }
        }
        const auto source = open(
            "a.npy", npy_bytes(">i2", true, frames == 1 ? "7, 13" : "3, 7, 13", samples.bytes()));
        EXPECT_EQ(source->header().frames, frames);
        EXPECT_EQ(source->header().shape, shape);
        EXPECT_TRUE(holds_pattern(*source));
    }
}

TEST_F(StoredFrames, in_npy_arrays_that_are_not_images_are_refused) {
    refuses("a.npy", "something else", "is not an NPY file: its signature is wrong");
    refuses("a.npy", npy_bytes("<f4", false, "7,", ""), "has 1 axes, expected two or more");
    refuses("a.npy", npy_bytes("<c8", false, "7, 13", ""), "has elements of type '<c8'");
    refuses("a.npy", npy_bytes("<f4", false, "7, -13", ""), "has the shape (7, -13)");
    refuses("a.npy", npy_bytes("<f4", false, "4000000000, 4000000000, 4, 4", ""),
            "has an implausible number of frames: damaged");
    refuses("a.npy", npy_bytes("<f4", false, "4000000000000000000, 4, 4", ""),
            "has an implausible number of frames: damaged");
    refuses("a.npy", npy_bytes("<f4", false, "500000000000, 1000000, 4", ""),
            "expected at least one and a total size that does not overflow");
}

TEST_F(StoredFrames, in_ser_are_read_with_offsets_of_32_and_64_bits) {
    for (const bool wide : {false, true}) {
        const auto source = open("a.ser", ser_bytes(wide, {shape, shape, shape}, 3));
        EXPECT_EQ(source->header().frames, 3);
        EXPECT_EQ(source->header().sample, Sample::u16);
        EXPECT_EQ(source->header().pixel, (PixelSize{.5e-9, .25e-9, "m"}));
        EXPECT_EQ(remarks(*source), "");
        EXPECT_TRUE(holds_pattern(*source));
    }
}

TEST_F(StoredFrames, in_irregular_or_truncated_ser_files_give_a_remark) {
    const std::string bytes = ser_bytes(false, {shape, shape, {13, 6}, shape}, 9);
    const auto source = open("a.ser", bytes);
    EXPECT_EQ(remarks(*source),
              "recording stopped after 4 of 9 images; frame 2 is 13×6, expected 13×7");
    EXPECT_EQ(failure([&] { read_frame(*source, 2); }), path + ": frame 2 is 13×6, expected 13×7");
    EXPECT_EQ(read_frame(*source, 3), pattern_frame<float>(3, shape));
    const auto cut = open("a.ser", ser_bytes(true, {shape, shape, shape}, 3).substr(0, 500));
    EXPECT_EQ(cut->header().frames, 1);
    EXPECT_EQ(remarks(*cut), "truncated: 1 of 3 frames are complete");
    EXPECT_TRUE(holds_pattern(*cut));
}

TEST_F(StoredFrames, in_invalid_ser_files_are_refused) {
    refuses("a.ser", std::string(100, 'x'), "is not a SER file: its signature is wrong");
    std::string lines = ser_bytes(false, {shape}, 1);
    lines.replace(6, 4, Bytewise().put<std::int32_t>(0x4120).bytes());
    refuses("a.ser", lines, "holds elements of kind 0x4120, expected images of kind 0x4122");
}

TEST_F(StoredFrames, in_digital_micrograph_are_read_in_both_versions_and_byte_orders) {
    for (const int version : {3, 4}) {
        for (const std::endian order : orders) {
            const auto source =
                open("a.dm" + std::to_string(version), DmBytes(version, order).stack(3, shape));
            EXPECT_EQ(source->header().frames, 3);
            EXPECT_EQ(source->header().shape, shape);
            EXPECT_EQ(source->header().sample, Sample::i16);
            EXPECT_EQ(source->header().pixel, (PixelSize{.5, .25, "nm"}));
            EXPECT_TRUE(holds_pattern(*source)) << version;
        }
    }
}

TEST_F(StoredFrames, in_digital_micrograph_have_the_interval_of_a_time_axis) {
    const DmBytes little(3, std::endian::little);
    EXPECT_EQ(open("a.dm3", DmBytes(little).stack(3, shape))->header().frame_interval, .125);
    const auto scans = open("a.dm3", DmBytes(little).stack(3, shape, 2));
    EXPECT_EQ(scans->header().frames, 6);
    EXPECT_EQ(scans->header().frame_interval, 0);
}

TEST_F(StoredFrames, in_a_damaged_block_of_bzip_2_are_refused_for_this_reason) {
    const auto order = std::endian::little;
    const std::string bytes =
        by_bzip2(mrc_bytes(1, 2, shape, order, stack_bytes<std::int16_t>(2, shape, order)));
    for (std::size_t at = 4; at + 1 < bytes.size(); at += 7) {
        std::string damaged = bytes;
        damaged[at] ^= 1;
        // Some bits are not used.
        EXPECT_THAT(failure([&] { read_frame(*open("a.mrc.bz2", damaged), 1); }),
                    testing::AnyOf(HasSubstr("cannot be decompressed: damaged"),
                                   testing::Eq("nothing was thrown")))
            << at;
    }
}

TEST_F(StoredFrames, in_digital_micrograph_have_units_in_any_letters) {
    // Units of placeholders, which are replaced by as many 16-bit letters.
    const auto unit = [&](const std::string& placeholders, const std::string& letters) {
        DmBytes file(3, std::endian::little);
        file.units.fill(placeholders);
        std::string bytes = file.stack(1, shape), wide;
        for (const char letter : placeholders)
            wide.append({letter, '\0'});
        for (std::size_t at = 0; (at = bytes.find(wide, at)) != std::string::npos;)
            bytes.replace(at, wide.size(), letters);
        return open("a.dm3", bytes)->header().pixel.unit;
    };
    EXPECT_EQ(unit("PM", std::string("\xBC\x03m\0", 4)), "µm");              // Greek mu
    EXPECT_EQ(unit("PM", std::string("+!\0\0", 4)), "Å");                    // the sign of the unit
    EXPECT_EQ(unit("PM__", std::string("n\0m\0\x7B\x20\xB9\0", 8)), "1/nm"); // a raised -1
}

TEST_F(StoredFrames, with_several_series_axes_are_flattened_with_a_remark) {
    EXPECT_EQ(remarks(*open("a.dm3", DmBytes(3, std::endian::little).stack(3, shape, 2))),
              "the frames are on several axes (3×2): all 6 planes are read as one series");
    const std::string samples = stack_bytes<std::int16_t>(6, shape, std::endian::little);
    EXPECT_EQ(remarks(*open("a.npy", npy_bytes("<i2", false, "1, 6, 7, 13", samples))), "");
}

TEST_F(StoredFrames, in_digital_micrograph_are_never_those_of_a_thumbnail) {
    const auto little = std::endian::little;
    const std::string samples = stack_bytes<std::int16_t>(1, {4, 4}, little); // fewer bytes
    for (const bool listed : {false, true}) {
        DmBytes file(4, little);
        if (listed) {
            file.thumbnail = 0;
            file.thumbnail_type = 11; // grey
        }
        EXPECT_EQ(open("a.dm4", DmBytes(file).images(1, {4, 4}, samples, 2))->header().shape,
                  (ImageShape{4, 4}));
        refuses("a.dm4", DmBytes(file).images(1, {16}, samples, 2),
                "has a spectrum of 16 channels, expected an image: two or more axes");
        refuses("a.dm4", DmBytes(file).images(1, {16, 1}, samples, 2),
                "has a spectrum of 16 channels, expected an image: two or more axes");
        for (const std::uint32_t type : {3U, 13U, 27U})
            refuses("a.dm4", DmBytes(file).images(type, {2, 2}, samples, 2),
                    "has an image of complex numbers (DM type " + std::to_string(type) +
                        "), expected real numbers: type 1, 2, 6, 7, 9 to 12 or 14");
        file.thumbnail = 0;
        refuses("a.dm4", DmBytes(file).images(23, {2, 4}, samples, 2),
                "has an image of colours (DM type 23), expected real numbers");
    }
}

TEST_F(StoredFrames, in_truncated_digital_micrograph_files_are_refused) {
    const std::string bytes = DmBytes(3, std::endian::little).stack(3, shape);
    refuses("a.dm3", "x", "ends inside its tags: truncated");
    refuses("a.dm3", std::string(100, 'x'), "is not a DM3 or DM4 file: its signature is wrong");
    refuses("a.dm3", bytes.substr(0, bytes.size() - 300), "claims 273 elements");
}

TEST_F(StoredFrames, in_digital_micrograph_with_overlong_tag_names_are_refused) {
    Bytewise file(std::endian::big);
    file.put<std::uint32_t>(3).put<std::uint32_t>(0).put<std::uint32_t>(1);
    for (int group = 0; group < 3; ++group) {
        file.put<std::uint16_t>(0).put<std::uint32_t>(1);
        file.put<std::uint8_t>(20).put<std::uint16_t>(2000).text(std::string(2000, 'a'));
    }
    EXPECT_THAT(failure([&] { open("a.dm3", file.bytes()); }),
                HasSubstr("has a tag with a name of 6002 characters: damaged"));
}

TEST_F(StoredFrames, without_a_header_are_read_by_the_layout_in_their_name) {
    const std::string samples = stack_bytes<std::uint16_t>(3, shape, std::endian::big);
    const auto source = open("a.raw", "12345" + samples + "rest", "::13x7,u16,offset=5,big-endian");
    EXPECT_EQ(source->header().frames, 3);
    EXPECT_EQ(remarks(*source), "4 bytes after the last frame are ignored");
    EXPECT_TRUE(holds_pattern(*source));
    const auto cut = open("a.raw", samples, "::13x7,u16,frames=4,big-endian");
    EXPECT_EQ(remarks(*cut), "truncated: 3 of 4 frames are complete");
    refuses("a.raw", samples, "has no header: append width, height");
    refuses("a.raw", samples, "\"u12\" is not a part of a layout", "::13x7,u12");
    for (const std::string again : {"u8", "7x13", "offset=4", "frames=2", "big-endian"}) {
        refuses("a.raw", samples, "\"" + again + "\" is not a part of a layout, or is repeated",
                "::13x7,u16,offset=0,frames=1,big-endian," + again);
    }
    refuses("a.raw", samples, "is 0×7, expected", "::0x7,u16");
}

} // namespace
} // namespace sextant::test
