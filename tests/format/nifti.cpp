// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/formats.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/format/file_size_limit.hpp"
#include "tests/format/fixtures.hpp"
#include "tests/format/images.hpp"
#include "tests/format/nifti_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/zarr_files.hpp"
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

constexpr ImageShape shape{13, 7};
constexpr double infinity = std::numeric_limits<double>::infinity();
const std::string i16_samples = stack_bytes<std::int16_t>(3, shape, std::endian::little);

class Nifti : public testing::Test {
  protected:
    std::unique_ptr<FrameSource> open(const std::string& bytes, bool compressed = false,
                                      const format::SourceOptions& options = {}) {
        path = folder.path(compressed ? "a.nii.gz" : "a.nii");
        fill_file(path, compressed ? deflated(bytes, true) : bytes);
        return format::open_frames(path, options);
    }
    std::string refusal(const std::string& bytes, bool compressed = false,
                        const format::SourceOptions& options = {}) {
        const std::string message = failure([&] { open(bytes, compressed, options); });
        return message.starts_with(path + ": ") ? message.substr(path.size() + 2) : message;
    }
    /// Expects the file to be refused with this text, and compressed too.
    void refuses(const NiftiFile& file, const std::string& text) {
        EXPECT_THAT(refusal(file.bytes(i16_samples)), HasSubstr(text));
        EXPECT_NE(refusal(file.bytes(i16_samples), true), "nothing was thrown");
    }
    std::unique_ptr<FrameSource> written(const FrameHeader& header,
                                         const format::SinkOptions& options = {},
                                         const std::string& name = "b.nii") {
        write_pattern(folder.path(name), header, options);
        return format::open_frames(folder.path(name));
    }

    TemporaryFolder folder;
    std::string path;
};

TEST_F(Nifti, states_pixel_size_interval_and_orientation) {
    const auto header = open(NiftiFile{}.bytes(i16_samples))->header();
    EXPECT_EQ(header.pixel, (PixelSize{.5, .25, "mm"}));
    EXPECT_EQ(header.frame_interval, 0);
    EXPECT_EQ(header.axes, (ArrayAxes{{3, 7, 13}, "ZYX"}));
    ASSERT_TRUE(header.grid);
    EXPECT_EQ(header.grid->spacing, (std::array{.5, .25, 2.}));
    EXPECT_EQ(header.grid->handedness, -1);
    EXPECT_EQ(header.grid->quaternion_code, 1);
    EXPECT_EQ(header.grid->matrix_code, 2);
    EXPECT_EQ(header.grid->quaternion[3], 4);
    EXPECT_EQ(header.grid->matrix[2], (std::array{9., 10., 11., 12.}));
    const auto times =
        open(NiftiFile{.dim = {4, 13, 7, 1, 3, 1, 1, 1}, .units = 3 | 16}.bytes(i16_samples))
            ->header();
    EXPECT_EQ(times.pixel.unit, "µm");
    EXPECT_EQ(times.frame_interval, .003);
    EXPECT_FALSE(times.grid);
    const NiftiFile unknown{.spacing = {1, 1, 1, 1, 1, 0, 0, 0}, .units = 0};
    EXPECT_FALSE(open(unknown.bytes(i16_samples))->header().pixel.known());
}

TEST_F(Nifti, of_four_or_five_axes_has_times_slices_and_channels) {
    const NiftiFile file{.dim = {5, 13, 7, 3, 2, 2, 1, 1}};
    const std::string bytes = file.bytes(stack_bytes<std::int16_t>(12, shape, std::endian::little));
    const auto is_plane = [](FrameSource& source, std::int64_t frame, std::int64_t plane) {
        return read_frame(source, frame) == pattern_frame<float>(plane, shape);
    };
    for (const bool compressed : {false, true}) {
        const auto first = open(bytes, compressed);
        EXPECT_EQ(first->header().frames, 2);
        EXPECT_EQ(first->header().frame_interval, 3);
        EXPECT_FALSE(first->header().grid);
        EXPECT_THAT(remarks(*first), HasSubstr("has 3 slices per frame, of which slice 0 is read"));
        EXPECT_THAT(remarks(*first), HasSubstr("has 2 channels per frame"));
        EXPECT_TRUE(is_plane(*first, 1, 3));
        EXPECT_TRUE(is_plane(*open(bytes, compressed, {.channel = 1, .slice = 2}), 1, 11));
        const auto slices = open(bytes, compressed, {.channel = 1, .time = 1});
        EXPECT_EQ(slices->header().frames, 3);
        EXPECT_TRUE(slices->header().grid);
        for (std::int64_t slice = 2; slice >= 0; --slice)
            EXPECT_TRUE(is_plane(*slices, slice, 9 + slice));
        EXPECT_EQ(refusal(bytes, compressed, {.time = 2}), "has no time 2, expected 0 to 1");
    }
    EXPECT_EQ(open(NiftiFile{.dim = {1, 13, 1, 1, 1, 1, 1, 1}}.bytes(i16_samples))->header().shape,
              (ImageShape{13, 1}));
    EXPECT_EQ(open(NiftiFile{.dim = {7, 13, 7, 3, 1, 1, 1, 1}}.bytes(i16_samples))->header().frames,
              3);
}

TEST_F(Nifti, with_a_scale_is_read_as_floats) {
    for (const bool compressed : {false, true}) {
        const auto source =
            open(NiftiFile{.slope = .5, .shift = -3}.bytes(i16_samples), compressed);
        EXPECT_EQ(source->header().sample, Sample::f32);
        EXPECT_EQ(remarks(*source), "stored as i16, read as f32: 0.5 times the sample plus -3 "
                                    "(scl_slope, scl_inter)");
        const auto values = read_rows(*source, 2, {3, 5});
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_EQ(values[i], .5F * pattern(2, static_cast<std::int64_t>(i % 13),
                                               3 + static_cast<std::int64_t>(i / 13)) -
                                     3);
    }
    // Floats could not tell 2²⁸ + 1 from 2²⁸.
    const auto far = open(NiftiFile{.slope = 1, .shift = 0x1p28}.bytes(i16_samples));
    ASSERT_EQ(far->header().sample, Sample::f64);
    EXPECT_THAT(remarks(*far), HasSubstr("stored as i16, read as f64"));
    std::vector<double> row(13);
    far->read_samples(2, {3, 4}, std::as_writable_bytes(std::span(row)));
    for (std::size_t x = 0; x < row.size(); ++x)
        EXPECT_EQ(row[x], 0x1p28 + pattern(2, static_cast<std::int64_t>(x), 3));
    const double none = std::nan("");
    for (const auto& [slope, shift] :
         std::vector<std::pair<double, double>>{{0, 5}, {none, none}, {infinity, 1}, {1, 0}}) {
        const auto source = open(NiftiFile{.slope = slope, .shift = shift}.bytes(i16_samples));
        EXPECT_EQ(source->header().sample, Sample::i16) << slope;
        EXPECT_EQ(remarks(*source), "");
    }
    EXPECT_EQ(open(NiftiFile{.slope = 1, .shift = 1}.bytes(i16_samples))->header().sample,
              Sample::f32);
    refuses({.slope = 1, .shift = infinity}, "scales samples by 1 and adds inf: damaged");
}

TEST_F(Nifti, with_a_damaged_header_is_refused) {
    refuses({.dim = {0, 13, 7, 3, 1, 1, 1, 1}}, "has 0 axes, expected 1 to 7; the file is damaged");
    refuses({.dim = {9, 13, 7, 3, 1, 1, 1, 1}}, "has 9 axes, expected 1 to 7; the file is damaged");
    refuses(
        {.dim = {3, 13, -7, 3, 1, 1, 1, 1}},
        "has length -7 along axis 2, expected a positive number below 2^40; the file is damaged");
    refuses({.dim = {3, 13, 7, 0, 1, 1, 1, 1}}, "has length 0 along axis 3");
    refuses({.dim = {6, 13, 7, 1, 1, 1, 3, 1}}, "at most five axes");
    constexpr std::int64_t huge = std::int64_t{1} << 62, large = std::int64_t{1} << 32;
    refuses({.version = 2, .dim = {3, huge, 7, 3, 1, 1, 1, 1}},
            "along axis 1, expected a positive number below 2^40");
    refuses({.version = 2, .dim = {3, large, large, 3, 1, 1, 1, 1}},
            "expected positive sides and at most");
    refuses({.version = 2, .dim = {5, 8, 8, large, large, 8, 1, 1}},
            "has axes whose product exceeds");
    refuses({.bits = 8}, "has samples of i16 with 8 bits, expected 16; the file is damaged");
    refuses({.type = 32, .bits = 64}, "of type 32 (complex numbers)");
    refuses({.type = 128, .bits = 24}, "of type 128 (RGB colours)");
    refuses({.type = 77}, "of type 77 (unknown)");
    refuses({.start = -5},
            "has samples starting at byte -5, expected 352 or more; the file is damaged");
    refuses({.start = 348}, "expected 352 or more");
    refuses({.version = 2, .start = 352}, "expected 544 or more");
    refuses({.start = std::nan("")}, "has samples starting at byte nan");
    refuses({.start = 1e30}, "expected 352 or more");
    refuses({.start = 1e6}, "has samples starting at byte 1000000, but only 898 bytes");
    refuses({.magic = "ni1"}, "is the header of a pair of NIfTI files");
    fill_file(folder.path("a.hdr"), NiftiFile{.magic = "ni1"}.bytes(""));
    EXPECT_THAT(failure([&] { format::open_frames(folder.path("a.hdr")); }),
                HasSubstr("may be one of a pair of NIfTI or Analyze files"));
    refuses({.magic = ""}, "its signature is neither n+1 nor n+2");
    refuses({.size = 349}, "does not begin with the size of a header");
    EXPECT_EQ(refusal(NiftiFile{}.bytes("").substr(0, 300)),
              "ends after 300 bytes, in its header: truncated");
    EXPECT_THAT(refusal(std::string()), HasSubstr("does not begin with the size of a header"));
    EXPECT_THAT(refusal(NiftiFile{}.bytes(i16_samples), false, {.axes = "TYX"}),
                HasSubstr("but the file names them ZYX"));
}

TEST_F(Nifti, that_is_truncated_has_its_whole_frames) {
    const std::string bytes = NiftiFile{}.bytes(i16_samples);
    const auto source = open(bytes.substr(0, bytes.size() - 1));
    EXPECT_EQ(source->header().frames, 2);
    EXPECT_EQ(remarks(*source), "truncated: 2 of 3 frames are complete");
    // Compressed: the frames are known only when they are read.
    const std::string stored = deflated(bytes, true);
    fill_file(path = folder.path("a.nii.gz"), deflated(bytes.substr(0, bytes.size() - 1), true));
    const auto compressed = format::open_frames(path);
    EXPECT_EQ(compressed->header().frames, 3);
    EXPECT_EQ(read_frame(*compressed, 1), pattern_frame<float>(1, shape));
    EXPECT_EQ(failure([&] { read_frame(*compressed, 2); }),
              path + ": truncated: its compressed data end after 897 of 898 bytes");
    EXPECT_EQ(read_frame(*compressed, 0), pattern_frame<float>(0, shape));
    fill_file(path, stored.substr(0, stored.size() - 100));
    EXPECT_THAT(failure([&] { read_frame(*format::open_frames(path), 2); }),
                HasSubstr("truncated: its compressed data end after"));
    std::string damaged = stored;
    damaged[damaged.size() - 6] ^= 1; // the checksum
    fill_file(path, damaged);
    const auto checked = format::open_frames(path);
    EXPECT_THAT(failure([&] { read_frame(*checked, 2); }), HasSubstr("incorrect data check"));
    EXPECT_NE(failure([&] { read_frame(*checked, 2); }), "nothing was thrown");
}

TEST_F(Nifti, of_several_compressed_members_is_read_as_one_file) {
    const std::string bytes = NiftiFile{}.bytes(i16_samples);
    fill_file(path = folder.path("a.nii.gz"), deflated(bytes.substr(0, 100), true) +
                                                  deflated(bytes.substr(100, 500), true) +
                                                  deflated(bytes.substr(600), true) + "trailing");
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
}

TEST_F(Nifti, is_not_decompressed_beyond_the_stated_size) {
    const std::string bytes = NiftiFile{}.bytes(i16_samples) + std::string(50 << 20, '\0');
    fill_file(path = folder.path("a.nii.gz"), deflated(bytes, true));
    const FileSizeLimit limit(1000);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
}

TEST_F(Nifti, with_a_wrong_checksum_after_further_bytes_is_refused) {
    std::string bytes = deflated(NiftiFile{}.bytes(i16_samples) + std::string(1000, '\0'), true);
    fill_file(path = folder.path("a.nii.gz"), bytes);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    bytes[bytes.size() - 6] ^= 1;
    fill_file(path, bytes);
    const auto source = format::open_frames(path);
    EXPECT_THAT(failure([&] { read_frame(*source, 2); }), HasSubstr("incorrect data check"));
    for (const std::int64_t frame : {2, 0, 1})
        EXPECT_THAT(failure([&] { read_frame(*source, frame); }),
                    HasSubstr("incorrect data check"));
    EXPECT_THAT(failure([&] { format::open_frames(path)->share(); }),
                HasSubstr("incorrect data check"));
}

TEST_F(Nifti, without_its_checksum_is_refused) {
    const std::string bytes = deflated(NiftiFile{}.bytes(i16_samples), true);
    for (const std::size_t missing : {1, 8}) {
        fill_file(path = folder.path("a.nii.gz"), bytes.substr(0, bytes.size() - missing));
        EXPECT_THAT(failure([&] { read_frame(*format::open_frames(path), 2); }),
                    HasSubstr("truncated: the checksum at its end is missing"));
    }
}

TEST_F(Nifti, that_states_more_than_its_compressed_size_can_hold_is_refused) {
    const NiftiFile file{.dim = {3, 30000, 30000, 30000, 1, 1, 1, 1}};
    EXPECT_THAT(refusal(file.bytes(i16_samples), true),
                HasSubstr("too few for the 54000000000352"));
}

TEST_F(Nifti, is_read_from_the_decompressed_copy_of_another_source) {
    const std::string bytes = NiftiFile{}.bytes(i16_samples);
    const std::string stored = deflated(bytes, true);
    path = folder.path("a.nii.gz");
    // Only the header can still be decompressed when the second source is opened.
    const auto opened = [&](ScratchPlace (*changed)(ScratchPlace)) {
        fill_file(path, stored);
        const auto first = format::open_frames(path);
        const ScratchPlace place = first->share();
        EXPECT_EQ(place.process, getpid());
        EXPECT_EQ(place.bytes, std::ssize(bytes));
        fill_file(path, deflated(bytes.substr(0, 360), true) + std::string(stored.size(), ' '));
        return format::open_frames(path, {.copy = changed(place)});
    };
    const auto same = [](ScratchPlace place) { return place; };
    EXPECT_TRUE(holds_pattern(*opened(same))); // the first source does not exist any more
    // Other files are not read.
    const std::string damaged = "compressed data end after";
    for (ScratchPlace (*changed)(ScratchPlace) :
         {+[](ScratchPlace place) { return ++place.inode, place; },
          +[](ScratchPlace place) { return ++place.device, place; },
          +[](ScratchPlace place) { return ++place.bytes, place; },
          +[](ScratchPlace place) { return place.descriptor = 1 << 20, place; },
          +[](ScratchPlace) { return ScratchPlace{}; }})
        EXPECT_THAT(failure([&] { read_frame(*opened(changed), 2); }), HasSubstr(damaged));
    // A copy that ends too early is replaced.
    fill_file(path, stored);
    const auto first = format::open_frames(path, {.time = 0});
    ScratchPlace place = first->share();
    place.bytes -= 40;
    const auto second = format::open_frames(path, {.copy = place});
    EXPECT_TRUE(holds_pattern(*second));
    EXPECT_EQ(second->share().bytes, std::ssize(bytes));
    EXPECT_NE(second->share().inode, place.inode);
    // Uncompressed files have no copy.
    fill_file(path = folder.path("a.nii"), bytes);
    EXPECT_EQ(format::open_frames(path)->share().process, 0);
    EXPECT_EQ(folder.entries(), 2);
}

TEST_F(Nifti, can_be_decompressed_if_its_folder_is_not_writable) {
    const std::string bytes = deflated(NiftiFile{}.bytes(i16_samples), true);
    const int file = memfd_create("nifti", MFD_CLOEXEC);
    ASSERT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_TRUE(holds_pattern(*format::open_nifti("/proc/self/fd/" + std::to_string(file), {})));
    close(file);
}

TEST_F(Nifti, is_written_as_version_2_if_an_axis_is_long) {
    const auto first = written({1, {32767, 2}, Sample::u8});
    EXPECT_EQ(content(folder.path("b.nii")).substr(344, 4), std::string("n+1\0", 4));
    EXPECT_TRUE(holds_pattern(*first));
    const auto second = written({1, {32768, 2}, Sample::u8});
    EXPECT_EQ(content(folder.path("b.nii")).substr(4, 4), std::string("n+2\0", 4));
    EXPECT_TRUE(holds_pattern(*second));
}

TEST_F(Nifti, is_written_with_times_or_slices) {
    FrameHeader header{3, {4, 5}, Sample::u8, 1, {2, 4, "nm"}};
    header.frame_interval = .5;
    const auto times = written(header);
    EXPECT_EQ(times->header().axes, (ArrayAxes{{3, 1, 5, 4}, "TZYX"}));
    EXPECT_EQ(times->header().frame_interval, .5);
    EXPECT_FLOAT_EQ(static_cast<float>(times->header().pixel.y), .004F);
    EXPECT_EQ(times->header().pixel.unit, "µm");
    const auto slices = written(header, {format::StackAxis::slices});
    EXPECT_EQ(slices->header().axes, (ArrayAxes{{3, 5, 4}, "ZYX"}));
    EXPECT_EQ(slices->header().frame_interval, 0);
    EXPECT_FALSE(written({3, {4, 5}, Sample::u8})->header().pixel.known());
    EXPECT_EQ(written({3, {4, 5}, Sample::u8, 1, {2, 2, "cm"}})->header().pixel,
              (PixelSize{20, 20, "mm"}));
}

TEST_F(Nifti, is_written_without_a_pixel_size_that_is_no_length) {
    for (const char* const unit : {"1/nm", "mrad", "inch"}) {
        const auto slices =
            written({3, {4, 5}, Sample::u8, 1, {2, 3, unit}}, {format::StackAxis::slices});
        EXPECT_FALSE(slices->header().pixel.known()) << unit;
        EXPECT_EQ(slices->header().slice_distance, 0) << unit;
    }
}

TEST_F(Nifti, keeps_the_orientation_of_its_input) {
    for (const int version : {1, 2}) {
        FrameHeader header = open(NiftiFile{.version = version}.bytes(i16_samples))->header();
        header.sample = Sample::u32;
        const auto slices = written(header, {format::StackAxis::slices});
        ASSERT_TRUE(slices->header().grid);
        EXPECT_EQ(slices->header().grid->handedness, -1);
        EXPECT_EQ(slices->header().grid->matrix, header.grid->matrix);
        EXPECT_EQ(slices->header().grid->spacing, header.grid->spacing);
    }
}

} // namespace
} // namespace sextant::test
