// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/formats.hpp"
#include "sextant/format/tiff/layout.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_parser.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TiffSink : public testing::Test {
  protected:
    TiffParser written(const FrameHeader& header, const format::SinkOptions& options = {}) {
        write_pattern(path, header, options);
        return TiffParser(content(path));
    }
    std::string description(const TiffParser& file) {
        return file.text(file.directories().front(), 270);
    }
    /// A file whose samples are all zero, except those of one frame.
    void write_sparse(const FrameHeader& header, std::int64_t frame,
                      const std::vector<std::uint32_t>& samples) {
        const format::TiffLayout layout(header, {});
        const auto bytes = [](const std::vector<std::byte>& from) {
            return std::string(reinterpret_cast<const char*>(from.data()), from.size());
        };
        const auto one = static_cast<std::size_t>(header.shape.elements() * size_of(header.sample));
        const std::size_t start = layout.start().size();
        const std::size_t end = start + one * static_cast<std::size_t>(header.frames) +
                                static_cast<std::size_t>(layout.padding());
        std::ofstream file(path, std::ios::binary);
        file << bytes(layout.start());
        file.seekp(static_cast<std::streamoff>(start + one * static_cast<std::size_t>(frame)));
        file.write(reinterpret_cast<const char*>(samples.data()),
                   static_cast<std::streamsize>(samples.size() * sizeof samples[0]));
        file.seekp(static_cast<std::streamoff>(end));
        for (std::int64_t i = 1; i < layout.directories(); ++i)
            file << bytes(layout.directory(i));
        file.close();
        std::filesystem::resize_file(
            path, std::max<std::uintmax_t>(end, std::filesystem::file_size(path)));
    }

    TemporaryFolder folder;
    std::string path = folder.path("a.tif");
    ImageShape shape{13, 7};
};

TEST_F(TiffSink, stores_the_samples_of_all_frames_consecutively_as_image_j_expects) {
    for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
        const TiffParser file = written({5, shape, sample, 1, {}, {}});
        EXPECT_THAT(description(file), HasSubstr("ImageJ="));
        EXPECT_THAT(description(file), HasSubstr("\nimages=5\nframes=5\n"));
        ASSERT_EQ(file.directories().size(), 5);
        EXPECT_FALSE(file.big());
        const auto one = static_cast<std::uint64_t>(shape.elements() * size_of(sample));
        const std::uint64_t first = file.directories().front().value(273);
        for (std::size_t frame = 0; frame < 5; ++frame) {
            const TiffDirectory& directory = file.directories()[frame];
            EXPECT_EQ(directory.entries.at(273).count, 1) << "one strip per frame";
            EXPECT_EQ(directory.value(273), first + frame * one) << name(sample);
            EXPECT_EQ(directory.value(279), one);
            EXPECT_EQ(directory.value(278), 7);
        }
    }
}

TEST_F(TiffSink, aligns_directories_and_texts_to_even_offsets) {
    write_pattern(path, {3, {3, 3}, Sample::u8, 1, {.3, .3, "nm"}, {}});
    const std::string bytes = content(path);
    const TiffParser file(bytes);
    std::uint32_t next = 0;
    std::memcpy(&next, bytes.data() + 8 + 2 + 12 * file.directories()[0].entries.size(), 4);
    EXPECT_EQ(next % 2, 0);
    for (const auto& [tag, entry] : file.directories()[0].entries) {
        if (entry.type == 2 || entry.type == 5) {
            EXPECT_EQ(entry.value % 2, 0) << tag;
        }
    }
}

TEST_F(TiffSink, writes_pixel_size_unit_and_interval_as_image_j_reads_them) {
    const TiffParser file = written({2, shape, Sample::u8, 1, {.3, 7, "µm"}, {}, .05});
    EXPECT_THAT(description(file), HasSubstr("\nunit=\\u00B5m\n"))
        << "escaped as in Java properties";
    EXPECT_THAT(description(file), HasSubstr("\nfinterval=0.05\n"));
    EXPECT_EQ(format::open_frames(path)->header().pixel.unit, "µm");
    for (const TiffDirectory& directory : file.directories()) {
        EXPECT_NEAR(file.rational(directory, 282) * .3, 1, 1e-12);
        EXPECT_NEAR(file.rational(directory, 283) * 7, 1, 1e-12);
        EXPECT_EQ(directory.value(296), 1) << "the unit is in the description";
    }
}

TEST_F(TiffSink, uses_another_unit_if_the_resolution_is_too_large_for_tiff) {
    const TiffParser file = written({1, shape, Sample::u8, 1, {2.5e-10, 2.5e-10, "m"}, {}});
    EXPECT_THAT(description(file), HasSubstr("\nunit=nm\n"));
    const PixelSize pixel = format::open_frames(path)->header().pixel;
    EXPECT_EQ(pixel.unit, "nm");
    EXPECT_NEAR(pixel.x, .25, 1e-7);
}

TEST_F(TiffSink, describes_planes_that_are_not_a_series_as_slices) {
    const TiffParser file =
        written({3, shape, Sample::f32, 1, {}, {}}, {format::StackAxis::slices});
    EXPECT_THAT(description(file), HasSubstr("\nslices=3\n"));
    EXPECT_EQ(format::open_frames(path)->header().frames, 3);
}

TEST_F(TiffSink, keeps_the_distance_of_slices) {
    for (const Sample sample : {Sample::u16, Sample::u32}) { // described for ImageJ, and for OME
        FrameHeader header{3, shape, sample, 1, {.5, .25, "µm"}, {}};
        header.slice_distance = 2;
        written(header, {format::StackAxis::slices});
        EXPECT_EQ(format::open_frames(path)->header().slice_distance, 2) << name(sample);
        format::SourceOptions one;
        one.slice = 1;
        EXPECT_EQ(format::open_frames(path, one)->header().slice_distance, 0) << "of a plane";
        written(header); // a time series
        EXPECT_EQ(format::open_frames(path)->header().slice_distance, 0) << name(sample);
        header.slice_distance = 0;
        written(header, {format::StackAxis::slices});
        EXPECT_EQ(format::open_frames(path)->header().slice_distance, 0) << name(sample);
    }
    FrameHeader small{3, shape, Sample::u8, 1, {2.5e-10, 2.5e-10, "m"}, {}};
    small.slice_distance = 1e-9;
    written(small, {format::StackAxis::slices});
    EXPECT_NEAR(format::open_frames(path)->header().slice_distance, 1, 1e-6) << "in nm";
}

/// The units of UTF-16 text as it is stored in a file of this machine's byte order.
std::string stored(std::u16string_view text) {
    return {reinterpret_cast<const char*>(text.data()), text.size() * sizeof text[0]};
}

TEST_F(TiffSink, writes_labels_of_frames_as_image_j_reads_them) {
    const TiffParser file = written({3, shape, Sample::u16, 1, {.5, .5, "nm"}, {}},
                                    {format::StackAxis::time, {"frame 0", "frame 2", "µ"}});
    const TiffDirectory& first = file.directories().front();
    ASSERT_EQ(first.entries.count(50838), 1) << "lengths";
    ASSERT_EQ(first.entries.count(50839), 1) << "metadata";
    const std::string bytes = content(path);
    const auto number = [&](std::uint64_t at) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    const std::uint64_t lengths = first.value(50838), metadata = first.value(50839);
    EXPECT_EQ(first.entries.at(50838).count, 4) << "of the header and of each label";
    EXPECT_EQ(number(lengths), 12);
    EXPECT_EQ(number(lengths + 4), 14);
    EXPECT_EQ(number(lengths + 8), 14);
    EXPECT_EQ(number(lengths + 12), 2);
    EXPECT_EQ(first.entries.at(50839).count, 12 + 14 + 14 + 2);
    EXPECT_EQ(number(metadata), 0x494a494a) << "IJIJ in the byte order of the file";
    EXPECT_EQ(number(metadata + 4), 0x6c61626c) << "labl";
    EXPECT_EQ(number(metadata + 8), 3);
    EXPECT_EQ(bytes.substr(metadata + 12, 30), stored(u"frame 0frame 2µ"));
    EXPECT_EQ(file.directories()[1].entries.count(50838), 0);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
}

TEST_F(TiffSink, refuses_labels_of_another_number_than_frames) {
    EXPECT_THROW(written({3, shape, Sample::u8}, {format::StackAxis::time, {"frame 0"}}),
                 std::logic_error);
}

TEST_F(TiffSink, writes_no_image_j_description_for_samples_that_image_j_cannot_read) {
    const TiffParser file = written({3, shape, Sample::u32, 1, {.5, .5, "Å"}, {}, 2});
    EXPECT_THAT(description(file), Not(HasSubstr("ImageJ")));
    EXPECT_THAT(description(file), HasSubstr("Type=\"uint32\" SizeX=\"13\" SizeY=\"7\" "
                                             "SizeZ=\"1\" SizeC=\"1\" SizeT=\"3\""));
    EXPECT_THAT(description(file), HasSubstr("PhysicalSizeX=\"0.5\" PhysicalSizeXUnit=\"Å\""));
    EXPECT_THAT(description(file), HasSubstr("TimeIncrement=\"2\" TimeIncrementUnit=\"s\""));
    EXPECT_EQ(file.directories().size(), 3);
    const TiffDirectory& first = file.directories().front();
    EXPECT_EQ(first.value(296), 3);
    EXPECT_NEAR(file.rational(first, 282), 2e8, 1);
}

TEST_F(TiffSink, chooses_image_j_tiff_or_big_tiff_by_the_file_length) {
    const auto layout = [](std::int64_t frames, ImageShape size, Sample sample) {
        return format::TiffLayout({frames, size, sample, 1, {}, {}}, {});
    };
    const auto small = layout(1, {1 << 15, 65000}, Sample::u8);
    EXPECT_TRUE(small.for_imagej() && !small.big());
    const auto large = layout(1, {1 << 16, 65000}, Sample::u8);
    EXPECT_TRUE(!large.for_imagej() && !large.big()) << "longer than a Java array can be";
    const auto single = layout(1, {1 << 16, 1 << 16}, Sample::u8);
    EXPECT_TRUE(!single.for_imagej() && single.big());
    const auto many = layout(5 << 20, {1, 1}, Sample::u8);
    EXPECT_TRUE(many.for_imagej() && !many.big());
    EXPECT_EQ(many.directories(), 5 << 20);
    const auto counted = layout(50 << 20, {1, 1}, Sample::u8);
    EXPECT_EQ(counted.directories(), 1) << "directories would need too much space";
    const auto movie = layout(200, {4096, 4096}, Sample::f32);
    EXPECT_TRUE(movie.for_imagej() && !movie.big());
    EXPECT_EQ(movie.directories(), 1);
    const auto labels = layout(200, {4096, 4096}, Sample::u32);
    EXPECT_TRUE(!labels.for_imagej() && labels.big());
    EXPECT_EQ(labels.directories(), 200);
    const auto wide = layout(3, {1 << 16, 1 << 16}, Sample::f32);
    EXPECT_TRUE(!wide.for_imagej() && wide.big());
}

TEST_F(TiffSink, follows_the_image_j_convention_beyond_4_gi_b) {
    const FrameHeader header{90, {4096, 4096}, Sample::f32, 1, {.1, .1, "nm"}, {}, .5};
    std::vector<std::uint32_t> samples(4096);
    samples[4095] = 0x40490fdb; // the bits of pi as a float
    write_sparse(header, 89, samples);
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 90);
    EXPECT_EQ(source->header().pixel, header.pixel);
    EXPECT_EQ(remarks(*source), "");
    EXPECT_FLOAT_EQ(read_rows(*source, 89, {0, 1})[4095], 3.14159265F);
    EXPECT_EQ(read_rows(*source, 88, {0, 1})[4095], 0);
}

TEST_F(TiffSink, writes_big_tiff_beyond_4_gi_b_for_samples_that_image_j_cannot_read) {
    const FrameHeader header{70, {4096, 4096}, Sample::u32, 1, {.1, .1, "nm"}, {}};
    std::vector<std::uint32_t> samples(4096);
    samples[4095] = 4294967295U;
    write_sparse(header, 69, samples);
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 70);
    EXPECT_EQ(source->header().pixel, header.pixel);
    EXPECT_EQ(remarks(*source), "");
    std::vector<std::uint32_t> row(4096);
    source->read_samples(69, {0, 1}, std::as_writable_bytes(std::span(row)));
    EXPECT_EQ(row, samples);
}

} // namespace
} // namespace sextant::test
