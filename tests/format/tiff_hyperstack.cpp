// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/formats.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_bytes.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

constexpr ImageShape shape{5, 4};

/// Planes whose samples all equal the number of the plane in the file.
std::string plane(std::int64_t number) {
    return std::string(static_cast<std::size_t>(shape.elements()), static_cast<char>(number));
}

class TiffHyperstack : public testing::Test {
  protected:
    /// Writes a file of this many pages, with the description in the first page.
    void write(const std::string& description, std::int64_t pages) {
        TiffBytes file(std::endian::little, false);
        for (std::int64_t page = 0; page < pages; ++page)
            file.add({.shape = shape, .bits = 8, .description = page == 0 ? description : ""},
                     plane(page));
        fill_file(path, file.bytes());
    }
    /// The planes that are read as frames.
    std::vector<int> planes_read(std::optional<std::int64_t> channel = {},
                                 std::optional<std::int64_t> slice = {},
                                 std::optional<std::int64_t> time = {}) {
        source = format::open_frames(path, {channel, slice, false, time});
        std::vector<int> planes;
        for (std::int64_t frame = 0; frame < source->header().frames; ++frame)
            planes.push_back(static_cast<int>(read_frame(*source, frame).back()));
        return planes;
    }

    TemporaryFolder folder;
    std::string path = folder.path("a.tif");
    std::unique_ptr<FrameSource> source;
};

using Planes = std::vector<int>;

TEST_F(TiffHyperstack, of_image_j_gives_the_first_channel_with_a_remark) {
    write("ImageJ=1.53t\nimages=6\nchannels=2\nframes=3\nhyperstack=true\nfinterval=20\ntunit=ms\n",
          6);
    EXPECT_EQ(planes_read(), (Planes{0, 2, 4}));
    EXPECT_EQ(remarks(*source), "has 2 channels per frame, of which channel 0 is read; --channel N "
                                "selects another");
    EXPECT_EQ(source->header().hyperstack, (Hyperstack{2, 1, 0, 0}));
    EXPECT_DOUBLE_EQ(source->header().frame_interval, .02);
    EXPECT_EQ(planes_read(1), (Planes{1, 3, 5}));
    EXPECT_EQ(remarks(*source), "");
    EXPECT_EQ(source->header().hyperstack, (Hyperstack{2, 1, 1, 0}));
}

TEST_F(TiffHyperstack, refuses_channels_and_slices_that_it_does_not_have) {
    write("ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\n", 12);
    EXPECT_EQ(planes_read(1, 2), (Planes{5, 11}));
    EXPECT_EQ(failure([&] { planes_read(2); }), path + ": has no channel 2, expected 0 to 1");
    EXPECT_EQ(failure([&] { planes_read(0, 3); }), path + ": has no slice 3, expected 0 to 2");
    fill_file(folder.path("a.mrc"),
              mrc_bytes(1, 2, {13, 7}, std::endian::little,
                        stack_bytes<std::int16_t>(2, {13, 7}, std::endian::little)));
    EXPECT_EQ(failure([&] {
                  format::open_frames(folder.path("a.mrc"), {1, {}});
              }),
              folder.path("a.mrc") + ": has no channel 1, expected channel 0");
}

TEST_F(TiffHyperstack, gives_the_slices_of_a_time_as_frames) {
    write("ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nfinterval=2\n", 12);
    EXPECT_EQ(planes_read(1, {}, 1), (Planes{7, 9, 11}));
    EXPECT_EQ(remarks(*source), "");
    EXPECT_EQ(source->header().hyperstack, (Hyperstack{2, 1, 1, 0, 2, 1}));
    EXPECT_EQ(source->header().frame_interval, 0);
    EXPECT_EQ(failure([&] { planes_read(0, {}, 2); }), path + ": has no time 2, expected 0 to 1");
    EXPECT_THROW(planes_read(0, 1, 1), InvalidTask);
    write("ImageJ=1.53t\nimages=4\nslices=4\n", 4);
    EXPECT_EQ(planes_read({}, {}, 0), (Planes{0, 1, 2, 3}));
}

TEST_F(TiffHyperstack, stored_after_a_single_page_is_read_by_its_axes) {
    TiffBytes file(std::endian::little, false);
    std::string planes;
    for (std::int64_t i = 0; i < 12; ++i)
        planes += plane(i);
    file.add({.shape = shape,
              .bits = 8,
              .description = "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\n"},
             planes);
    std::string bytes = file.bytes();
    const auto length = [](std::size_t value) {
        return Bytewise().put<std::uint32_t>(static_cast<std::uint32_t>(value)).bytes();
    };
    bytes.replace(bytes.rfind(length(planes.size())), 4, length(planes.size() / 12));
    fill_file(path, bytes);
    EXPECT_EQ(planes_read(), (Planes{0, 6}));
    EXPECT_EQ(planes_read(1, 2), (Planes{5, 11}));
    EXPECT_EQ(planes_read(1, {}, 1), (Planes{7, 9, 11}));
}

TEST_F(TiffHyperstack, of_slices_only_gives_each_slice_as_a_frame) {
    write("ImageJ=1.53t\nimages=4\nslices=4\n", 4);
    EXPECT_EQ(planes_read(), (Planes{0, 1, 2, 3}));
    EXPECT_EQ(remarks(*source), "");
    EXPECT_EQ(planes_read({}, 2), (Planes{2}));
    EXPECT_EQ(source->header().hyperstack, (Hyperstack{1, 4, 0, 2}));
}

TEST_F(TiffHyperstack, with_inconsistent_axes_is_read_as_a_stack_as_in_image_j) {
    write("ImageJ=1.53t\nimages=5\nchannels=2\nframes=3\n", 5);
    EXPECT_EQ(planes_read(), (Planes{0, 1, 2, 3, 4}));
    write(
        "ImageJ=1.53t\nimages=4\nchannels=2147483648\nslices=2147483648\nframes=999999999999999\n",
        4);
    EXPECT_EQ(planes_read(), (Planes{0, 1, 2, 3}));
}

std::string ome(const std::string& order, const std::string& sizes, const std::string& data) {
    return "<?xml version=\"1.0\"?><OME UUID=\"urn:uuid:1\"><Image ID=\"Image:0\"><Pixels "
           "DimensionOrder=\"" +
           order + "\" " + sizes +
           " TimeIncrement=\"250\" TimeIncrementUnit=\"ms\" Type=\"uint8\">"
           "<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"1\"/>" +
           data + "</Pixels></Image></OME>";
}

TEST_F(TiffHyperstack, of_ome_is_read_in_its_axis_order) {
    const std::string sizes = "SizeC=\"2\" SizeZ=\"1\" SizeT=\"3\"";
    write(ome("XYCZT", sizes, "<TiffData IFD=\"0\" PlaneCount=\"6\"/>"), 6);
    EXPECT_EQ(planes_read(1), (Planes{1, 3, 5}));
    EXPECT_DOUBLE_EQ(source->header().frame_interval, .25);
    write(ome("XYTZC", sizes, ""), 6);
    EXPECT_EQ(planes_read(), (Planes{0, 1, 2}));
    EXPECT_EQ(remarks(*source), "has 2 channels per frame, of which channel 0 is read; --channel N "
                                "selects another");
    EXPECT_EQ(planes_read(1), (Planes{3, 4, 5}));
}

TEST_F(TiffHyperstack, of_ome_is_read_in_every_spelling_of_xml) {
    const std::string sizes = " SizeC=\"2\" SizeZ=\"1\" SizeT=\"3\" PhysicalSizeX=\"2\" "
                              "PhysicalSizeY=\"2\" PhysicalSizeXUnit=\"nm\" "
                              "PhysicalSizeYUnit=\"nm\" DimensionOrder=\"XYCZT\"/>";
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string text = "<OME><Image><Pixels" + sizes + "</Image></OME>";
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
        return text;
    };
    for (const std::string& text :
         {replaced("\"", "'"), replaced("<OME", "<OME:OME"), replaced("<Pixels", "<ome:Pixels"),
          replaced("<Pixels ", "<Pixels\n"), replaced("\" ", "\"\t"), replaced("=", " = "),
          replaced("\"nm\"", "\"&#x6e;&#109;\""),
          replaced("<Image>", "<Image><!-- <Pixels SizeC=\"1\" SizeT=\"6\"/> -->"),
          replaced("<Pixels", "<Pixels Name=\"a > b\""),
          replaced("<OME>", "<?xml version=\"1.0\"?><!-- <a> --><OME>")}) {
        write(text, 6);
        EXPECT_EQ(planes_read(1), (Planes{1, 3, 5})) << text;
        EXPECT_EQ(source->header().pixel, (PixelSize{2, 2, "nm"})) << text;
    }
    write(replaced("\"nm\"", "\"&#181;m\""), 6);
    EXPECT_EQ(planes_read(1), (Planes{1, 3, 5}));
    EXPECT_EQ(source->header().pixel.unit, "µm");
}

TEST_F(TiffHyperstack, of_ome_is_read_by_the_stated_position_of_each_page) {
    std::string data;
    for (const auto& [page, channel, frame] :
         std::vector<std::array<int, 3>>{{0, 1, 1}, {1, 0, 1}, {2, 1, 0}, {3, 0, 0}}) {
        data += "<TiffData FirstC=\"" + std::to_string(channel) + "\" FirstT=\"" +
                std::to_string(frame) + "\" IFD=\"" + std::to_string(page) +
                "\" PlaneCount=\"1\"><UUID FileName=\"renamed.tif\">urn:uuid:1</UUID></TiffData>";
    }
    write(ome("XYCZT", "SizeC=\"2\" SizeZ=\"1\" SizeT=\"2\"", data), 4);
    EXPECT_EQ(planes_read(), (Planes{3, 1}));
    EXPECT_EQ(planes_read(1), (Planes{2, 0}));
    EXPECT_EQ(planes_read({}, {}, 1), (Planes{1}));
}

TEST_F(TiffHyperstack, of_ome_in_several_files_gives_the_frames_of_the_opened_file) {
    const std::string data =
        "<TiffData FirstT=\"0\" IFD=\"0\" PlaneCount=\"2\"><UUID "
        "FileName=\"a.tif\">urn:uuid:1</UUID></TiffData><TiffData FirstT=\"2\" IFD=\"0\" "
        "PlaneCount=\"2\"><UUID FileName=\"b.tif\">urn:uuid:2</UUID></TiffData>";
    write(ome("XYCZT", "SizeC=\"1\" SizeZ=\"1\" SizeT=\"4\"", data), 2);
    EXPECT_EQ(planes_read(), (Planes{0, 1}));
    EXPECT_EQ(remarks(*source), "2 of 4 frames are in other files");
}

TEST_F(TiffHyperstack, of_ome_leaves_out_pages_of_other_images) {
    write(ome("XYCZT", "SizeC=\"1\" SizeZ=\"1\" SizeT=\"3\"",
              "<TiffData IFD=\"0\" PlaneCount=\"3\"/>"),
          5);
    EXPECT_EQ(planes_read(), (Planes{0, 1, 2}));
    EXPECT_EQ(remarks(*source), "2 of 5 pages do not belong to the first image and are ignored");
}

TEST_F(TiffHyperstack, of_an_unfinished_ome_file_gives_the_frames_it_contains) {
    write(ome("XYCZT", "SizeC=\"2\" SizeZ=\"1\" SizeT=\"4\"", "<TiffData/>"), 5);
    EXPECT_EQ(planes_read(1), (Planes{1, 3}));
    EXPECT_EQ(remarks(*source), "truncated: 2 of 4 frames are complete");
    write(ome("XYCZT", "SizeC=\"2\" SizeZ=\"1\" SizeT=\"4\"",
              "<TiffData IFD=\"0\" "
              "PlaneCount=\"8\"/>"),
          5);
    EXPECT_EQ(planes_read(1), (Planes{1, 3}));
    EXPECT_EQ(remarks(*source), "truncated: 2 of 4 frames are complete");
}

TEST_F(TiffHyperstack, of_tifffile_is_read_by_its_axis_names) {
    write("{\"shape\": [3, 2, 4, 5], \"axes\": \"TCYX\"}", 6);
    EXPECT_EQ(planes_read(), (Planes{0, 2, 4}));
    write("{\"shape\": [2, 3, 4, 5], \"axes\": \"CTYX\"}", 6);
    EXPECT_EQ(planes_read(1), (Planes{3, 4, 5}));
    write("{\"shape\": [2, 3, 4, 5]}", 6);
    EXPECT_EQ(planes_read(), (Planes{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(remarks(*source), "the axes are not named: all 6 planes are read as frames");
}

TEST_F(TiffHyperstack, truncated_gives_its_complete_frames) {
    write("ImageJ=1.53t\nimages=8\nchannels=2\nframes=4\n", 5);
    EXPECT_EQ(planes_read(1), (Planes{1, 3}));
    EXPECT_THAT(remarks(*source), HasSubstr("truncated: 2 of 4 frames are complete"));
}

/// Two samples per pixel, the second larger by ten.
std::string pairs() {
    std::string samples;
    for (char i = 0; i < shape.elements(); ++i)
        samples += {i, static_cast<char>(i + 10)};
    return samples;
}

TEST_F(TiffHyperstack, treats_samples_without_a_stated_meaning_as_channels) {
    for (const int extra : {-1, 0}) {
        TiffBytes file(std::endian::little, false);
        file.add({.shape = shape, .bits = 8, .channels = 2, .extra = extra}, pairs());
        fill_file(path, file.bytes());
        EXPECT_EQ(planes_read(), (Planes{19})) << extra;
        EXPECT_EQ(remarks(*source), "has 2 channels per frame, of which channel 0 is read; "
                                    "--channel N selects another");
        EXPECT_EQ(source->header().channels, 1);
        EXPECT_EQ(planes_read(1), (Planes{29}));
        EXPECT_EQ(read_rows(*source, 0, {1, 2}), (std::vector<float>{15, 16, 17, 18, 19}));
    }
}

TEST_F(TiffHyperstack, leaves_out_the_alpha_channel) {
    for (const int alpha : {1, 2}) {
        TiffBytes file(std::endian::little, false);
        file.add({.shape = shape, .bits = 8, .channels = 2, .extra = alpha}, pairs());
        fill_file(path, file.bytes());
        EXPECT_EQ(planes_read(), (Planes{19}));
        EXPECT_EQ(remarks(*source), "");
        EXPECT_EQ(source->header().channels, 2);
    }
}

TEST_F(TiffHyperstack, reports_an_ignored_fourth_sample_of_colour_pixels) {
    TiffBytes file(std::endian::little, false);
    file.add({.shape = {1, 1}, .bits = 8, .photometric = 2, .channels = 4, .extra = 0},
             "\x0a\x14\x1e\x28");
    fill_file(path, file.bytes());
    source = format::open_frames(path);
    EXPECT_FLOAT_EQ(read_frame(*source, 0)[0], luminance(10, 20, 30));
    EXPECT_EQ(remarks(*source),
              "the fourth sample of each pixel is ignored because the file does not "
              "state its meaning");
}

TEST_F(TiffHyperstack, uses_the_selected_channel_of_every_file_in_a_sequence) {
    for (const char* name : {"f0.tif", "f1.tif", "f2.tif"}) {
        path = folder.path(name);
        write("ImageJ=1.53t\nimages=2\nchannels=2\n", 2);
    }
    path = folder.path("f%d.tif");
    EXPECT_EQ(planes_read(), (Planes{0, 0, 0}));
    EXPECT_THAT(remarks(*source), HasSubstr("--channel N selects another"));
    EXPECT_EQ(planes_read(1), (Planes{1, 1, 1}));
    EXPECT_EQ(failure([&] { planes_read(2); }),
              folder.path("f0.tif") + ": has no channel 2, expected 0 to 1");
}

} // namespace
} // namespace sextant::test
