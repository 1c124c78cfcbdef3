// SPDX-License-Identifier: BSD-3-Clause
// Reading arrays of Zarr version 2 that are written by hand, with other calls than those of the
// reader.
#include "sextant/format/catalogue.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/sequence.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/zarr_files.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

class Zarr : public testing::Test {
  protected:
    /// Writes an array as a.zarr and opens it.
    std::unique_ptr<FrameSource> open(const ZarrPattern& array) {
        std::filesystem::remove_all(path);
        write_zarr(path, array);
        return format::open_frames(path);
    }
    std::string refusal(const std::string& detail = "",
                        const format::SourceOptions& options = {}) const {
        const std::string message = failure([&] { format::open_frames(path + detail, options); });
        return message.starts_with(path) ? message.substr(path.size()) : message;
    }
    /// Writes a group of the test pattern in five axes and opens it.
    std::unique_ptr<FrameSource> open_image(const std::string& attributes,
                                            const format::SourceOptions& options = {}) {
        std::filesystem::remove_all(path);
        put_file(path + "/.zgroup", R"({"zarr_format": 2})");
        put_file(path + "/.zattrs", attributes);
        write_zarr(path + "/full", hyperstack);
        write_zarr(path + "/half", {.sides = {2, 2, 3, 4, 5}, .chunk = {1, 1, 1, 4, 5}});
        return format::open_frames(path, options);
    }

    const ZarrPattern hyperstack{.sides = {2, 2, 3, 8, 10}, .chunk = {1, 1, 2, 8, 10}};
    TemporaryFolder folder;
    std::string path = folder.path("a.zarr");
};

TEST_F(Zarr, of_bools_is_read_as_zeros_and_ones) {
    put_file(path + "/.zarray",
             ZarrPattern{.sides = {2, 2}, .chunk = {2, 2}, .type = "|b1", .fill = "false"}.text());
    put_file(path + "/0.0", std::string("\0\1\2\xff", 4));
    EXPECT_EQ(read_frame(*format::open_frames(path), 0), (std::vector<float>{0, 1, 1, 1}));
    put_file(path + "/.zarray",
             ZarrPattern{.sides = {2, 3}, .chunk = {2, 2}, .type = "|b1", .fill = "true"}.text());
    EXPECT_EQ(read_frame(*format::open_frames(path), 0), (std::vector<float>{0, 1, 1, 1, 1, 1}));
}

TEST_F(Zarr, of_every_compressor_is_read_in_both_orders) {
    for (const ZarrCompressor& compressor : zarr_compressors()) {
        for (const std::string order : {"C", "F"}) {
            for (const std::string separator : {"", ".", "/"}) {
                const auto source = open({.type = ">u2",
                                          .order = order,
                                          .separator = separator,
                                          .compressor = compressor});
                EXPECT_TRUE(holds_pattern(*source)) << compressor.json << order << separator;
            }
        }
    }
}

TEST_F(Zarr, of_gzip_with_several_members_is_read) {
    const auto in_two = [](const std::string& chunk) {
        return deflated(chunk.substr(0, 30), true) + deflated(chunk.substr(30), true);
    };
    EXPECT_TRUE(holds_pattern(*open({.compressor = {R"({"id": "gzip"})", in_two}})));
}

TEST_F(Zarr, of_any_shape_of_chunks_is_read) {
    const std::vector<std::vector<std::int64_t>> chunks{{1, 1, 1}, {3, 7, 13}, {5, 8, 16},
                                                        {2, 7, 4}, {1, 3, 13}, {3, 1, 20}};
    for (const auto& chunk : chunks) {
        for (const std::string order : {"C", "F"}) {
            const ZarrPattern array{.chunk = chunk, .order = order};
            EXPECT_TRUE(holds_pattern(*open(array))) << fmt::format("{}", chunk) << order;
        }
    }
}

TEST_F(Zarr, of_two_to_five_axes_has_the_others_as_frames) {
    const std::vector<std::vector<std::int64_t>> sides{
        {7, 13},       {1, 13},       {4, 7, 13},      {3, 2, 7, 13},
        {1, 5, 7, 13}, {5, 1, 7, 13}, {2, 3, 2, 7, 13}};
    for (const auto& each : sides) {
        const auto source =
            open({.sides = each, .chunk = std::vector<std::int64_t>(each.size(), 3)});
        std::int64_t frames = 1;
        for (std::size_t axis = 0; axis + 2 < each.size(); ++axis)
            frames *= each[axis];
        EXPECT_EQ(source->header().frames, frames);
        EXPECT_TRUE(holds_pattern(*source)) << fmt::format("{}", each);
    }
}

TEST_F(Zarr, with_missing_chunks_has_the_fill_value_there) {
    const auto except = [](const std::string& name) { return name != "0.0.1" && name != "1.1.2"; };
    const auto only = [](const std::string& name) { return name == "1.2.1"; }; // of bands of rows
    for (const ZarrPattern& array :
         {ZarrPattern{.fill = "77", .stored = except}, ZarrPattern{.sides = {6, 9, 11},
                                                       .chunk = {2, 3, 4},
                                                       .type = ">u2",
                                                       .fill = "77",
                                                       .compressor = zarr_compressors()[3],
                                                       .stored = only}}) {
        const auto source = open(array);
        EXPECT_EQ(remarks(*source), "");
        const ImageShape shape = source->header().shape;
        for (const std::int64_t frame : {1, 2, 0, 2}) {
            std::vector<float> expected = pattern_frame<float>(frame, shape);
            for (std::int64_t i = 0; i < shape.elements(); ++i) {
                if (!array.stored(fmt::format("{}.{}.{}", frame / array.chunk[0],
                                              i / shape.width / array.chunk[1],
                                              i % shape.width / array.chunk[2])))
                    expected[static_cast<std::size_t>(i)] = 77;
            }
            EXPECT_EQ(read_frame(*source, frame), expected) << frame;
        }
    }
}

TEST_F(Zarr, without_chunks_has_only_the_fill_value) {
    const auto none = [](auto&) { return false; };
    const auto fill_of = [&](const std::string& type, const std::string& fill) {
        const auto source = open({.type = type, .fill = fill, .stored = none});
        EXPECT_EQ(remarks(*source), "has no chunks: all samples have the fill value");
        return read_frame(*source, 2).back();
    };
    EXPECT_EQ(fill_of("<u2", "null"), 0);
    EXPECT_EQ(fill_of("<u2", "65535"), 65535);
    EXPECT_EQ(fill_of(">u2", "258"), 258);
    EXPECT_EQ(fill_of("<u2", "3.0"), 3);
    EXPECT_EQ(fill_of("|u1", "true"), 1);
    EXPECT_EQ(fill_of("<i8", "-9223372036854775808"), -0x1p63F);
    EXPECT_EQ(fill_of(">u8", "18446744073709551615"), 0x1p64F);
    EXPECT_EQ(fill_of(">f2", "-1.5"), -1.5F);
    EXPECT_EQ(fill_of("<f4", "1e3"), 1000);
    EXPECT_TRUE(std::isnan(fill_of("<f8", "\"NaN\"")));
    EXPECT_EQ(fill_of(">f4", "\"Infinity\""), std::numeric_limits<float>::infinity());
    EXPECT_EQ(fill_of("<f2", "\"-Infinity\""), -std::numeric_limits<float>::infinity());
    for (const std::string fill : {"65536", "-1", "0.5", "\"NaN\"", "[1]", "1e300"}) {
        put_file(path + "/.zarray", ZarrPattern{.fill = fill}.text());
        EXPECT_THAT(refusal(), HasSubstr("/.zarray: fill_value is ")) << fill;
    }
    put_file(path + "/.zarray", ZarrPattern{.type = "<f4", .fill = "\"zero\""}.text());
    EXPECT_EQ(refusal(), "/.zarray: fill_value is \"zero\", expected null or a value of f32");
}

TEST_F(Zarr, is_read_in_any_order_of_frames_and_rows) {
    const auto source = open({.sides = {12, 40, 33}, .chunk = {5, 16, 8}});
    for (int i = 0; i < 300; ++i) {
        const std::int64_t frame = i * 7 % 12, first = i * 13 % 40;
        const Rows rows{first, std::min<std::int64_t>(40, first + 1 + i % 19)};
        const auto expected = pattern_frame<float>(frame, {33, 40});
        EXPECT_EQ(read_rows(*source, frame, rows),
                  std::vector<float>(expected.begin() + rows.first * 33,
                                     expected.begin() + rows.last * 33));
    }
}

TEST_F(Zarr, decodes_each_chunk_once_if_frames_are_read_in_order) {
    const auto source = open({.sides = {8, 20, 20}, .chunk = {4, 10, 10}});
    read_frame(*source, 0);
    for (const std::string name : {"0.0.0", "0.0.1", "0.1.0", "0.1.1"})
        std::filesystem::remove(path + "/" + name); // now read from memory, or as fill values
    for (const std::int64_t frame : {1, 2, 3, 4, 3})
        EXPECT_EQ(read_frame(*source, frame), pattern_frame<float>(frame, {20, 20})) << frame;
    EXPECT_NE(read_frame(*format::open_frames(path), 3), pattern_frame<float>(3, {20, 20}));
}

TEST_F(Zarr, reads_only_the_chunks_that_rows_need) {
    const auto source = open({.sides = {8, 20, 20}, .chunk = {4, 10, 10}});
    fill_file(path + "/0.1.0", "damaged");
    EXPECT_EQ(read_rows(*source, 0, {0, 10}).size(), 200U);
    EXPECT_EQ(failure([&] { read_frame(*source, 0); }),
              path + "/0.1.0: has 7 bytes, expected a chunk of 800");
    EXPECT_EQ(read_frame(*source, 4), pattern_frame<float>(4, {20, 20}));
}

TEST_F(Zarr, decodes_chunks_with_several_threads) {
    ZarrPattern array{.sides = {8, 140, 300}, .chunk = {8, 128, 16}};
    array.compressor = blosc_compressor("lz4", BLOSC_SHUFFLE);
    EXPECT_TRUE(holds_pattern(*open(array)));
    for (const std::string name : {"0.0.17", "0.0.5", "0.0.11"})
        fill_file(path + "/" + name, "damaged");
    for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(failure([&] { read_frame(*format::open_frames(path), 0); }),
                    testing::StartsWith(path + "/0.0.5: cannot be decoded as blosc"));
    }
}

TEST(ZarrTasks, throw_the_exception_of_the_first_task_that_fails) {
    using namespace std::chrono_literals;
    for (const std::int64_t last : {0, 1}) { // the task that fails last
        std::atomic<int> begun{0};
        EXPECT_EQ(failure([&] {
                      format::run_chunk_tasks(9, 2, [&](std::int64_t task, int) {
                          ++begun;
                          for (int i = 0; begun < 2 && i < 1000; ++i)
                              std::this_thread::sleep_for(1ms);
                          if (task == last)
                              std::this_thread::sleep_for(20ms);
                          throw InvalidFile("task " + std::to_string(task), "fails");
                      });
                  }),
                  "task 0: fails")
            << last;
    }
}

TEST(ZarrTasks, run_once_each_with_a_thread_of_their_own) {
    for (const int threads : {1, 3, 8}) {
        std::vector<int> runs(100, 0);
        std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
        format::run_chunk_tasks(100, threads, [&](std::int64_t task, int thread) {
            EXPECT_EQ(busy[static_cast<std::size_t>(thread)]++, 0);
            ++runs[static_cast<std::size_t>(task)];
            --busy[static_cast<std::size_t>(thread)];
        });
        EXPECT_EQ(runs, std::vector<int>(100, 1)) << threads;
    }
    format::run_chunk_tasks(0, 4, [](std::int64_t, int) { FAIL(); });
}

constexpr const char* axes_of_image =
    R"("axes": [{"name": "t", "type": "time", "unit": "millisecond"},
                {"name": "c", "type": "channel"},
                {"name": "z", "type": "space", "unit": "nanometer"},
                {"name": "y", "type": "space", "unit": "micrometer"},
                {"name": "x", "type": "space", "unit": "micrometer"}])";

std::string image_of(const std::string& axes) {
    return R"({"multiscales": [{"version": "0.4", )" + axes + R"(, "datasets": [
        {"path": "full", "coordinateTransformations": [
            {"type": "scale", "scale": [250, 1, 3, 0.5, 0.25]},
            {"type": "translation", "translation": [0, 0, 7, 7, 7]}]},
        {"path": "half", "coordinateTransformations": [
            {"type": "scale", "scale": [250, 1, 3, 1.0, 0.5]}]}],
        "coordinateTransformations": [{"type": "scale", "scale": [2, 1, 1, 1, 1]}]}]})";
}

/// True if frame `frame` of the source is this plane of an image of 2 times × 2 channels × 3
/// slices.
bool is_plane(FrameSource& source, std::int64_t frame, std::int64_t time, std::int64_t channel,
              std::int64_t slice) {
    return read_frame(source, frame) ==
           pattern_frame<float>((time * 2 + channel) * 3 + slice, {10, 8});
}

TEST_F(Zarr, of_ome_has_channels_slices_pixel_size_and_interval) {
    const auto source = open_image(image_of(axes_of_image));
    EXPECT_EQ(source->header().frames, 2);
    EXPECT_EQ(source->header().pixel, (PixelSize{.25, .5, "µm"}));
    EXPECT_EQ(source->header().frame_interval, .5);
    EXPECT_EQ(source->header().hyperstack, (Hyperstack{2, 3, 0, 0}));
    EXPECT_EQ(remarks(*source),
              "has 2 channels per frame, of which channel 0 is read; --channel N selects another; "
              "has 3 slices per frame, of which slice 0 is read; --slice N selects another, and "
              "--time N reads the slices of a time");
    EXPECT_TRUE(is_plane(*source, 0, 0, 0, 0));
    EXPECT_TRUE(is_plane(*source, 1, 1, 0, 0));
    const auto other = open_image(image_of(axes_of_image), {.channel = 1, .slice = 2});
    EXPECT_EQ(other->header().hyperstack, (Hyperstack{2, 3, 1, 2}));
    EXPECT_TRUE(is_plane(*other, 1, 1, 1, 2));
    const auto slices = open_image(image_of(axes_of_image), {.channel = 1, .time = 1});
    EXPECT_EQ(slices->header().hyperstack, (Hyperstack{2, 1, 1, 0, 2, 1}));
    EXPECT_EQ(slices->header().frames, 3);
    EXPECT_EQ(slices->header().frame_interval, 0);
    EXPECT_TRUE(is_plane(*slices, 2, 1, 1, 2));
    EXPECT_NO_THROW(format::open_frames(path, {.axes = "tczyx"}));
    EXPECT_THAT(refusal("", {.axes = "CTZYX"}), HasSubstr("but the file names them TCZYX"));
    EXPECT_THAT(refusal("", {.channel = 2}), HasSubstr("has no channel 2, expected 0 to 1"));
    EXPECT_THAT(refusal("", {.channel = -1}), HasSubstr("has no channel -1, expected 0 to 1"));
    EXPECT_THAT(refusal("", {.slice = 3}), HasSubstr("has no slice 3, expected 0 to 2"));
    const auto half = format::open_frames(path + "::half");
    EXPECT_EQ(half->header().shape, (ImageShape{5, 4}));
    EXPECT_EQ(half->header().pixel, (PixelSize{.5, 1, "µm"}));
    EXPECT_EQ(half->header().hyperstack.slices, 3);
}

TEST_F(Zarr, of_ome_without_times_has_slices_as_frames) {
    std::filesystem::remove_all(path);
    put_file(path + "/.zattrs", R"({"multiscales": [{"axes": ["c", "z", "y", "x"],
        "datasets": [{"path": "0"}]}]})");
    write_zarr(path + "/0", {.sides = {2, 3, 7, 13}, .chunk = {1, 2, 7, 7}});
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 3);
    EXPECT_EQ(source->header().hyperstack, (Hyperstack{2, 1, 0, 0}));
    EXPECT_FALSE(source->header().pixel.known());
    EXPECT_TRUE(holds_pattern(*source));
    const auto second = format::open_frames(path, {.channel = 1, .slice = 2});
    EXPECT_EQ(second->header().frames, 1);
    EXPECT_EQ(read_frame(*second, 0), pattern_frame<float>(5, {13, 7}));
}

TEST_F(Zarr, of_ome_with_unknown_axes_has_all_planes_as_frames) {
    for (const std::string axes :
         {R"("axes": ["t", "q", "z", "y", "x"])", R"("axes": ["t", "t", "z", "y", "x"])"}) {
        const auto source = open_image(image_of(axes));
        EXPECT_EQ(source->header().frames, 12) << axes;
        EXPECT_TRUE(holds_pattern(*source)) << axes;
        EXPECT_FALSE(source->header().pixel.known()) << axes;
    }
    EXPECT_THAT(
        failure([&] { open_image(image_of(R"("axes": ["t", "c", "z", "x", "y"])")); }),
        HasSubstr(
            "has the axes t,c,z,x,y (2×2×3×8×10), of which x and y are not those of a frame"));
    EXPECT_EQ(open_image(R"({"multiscales": [{"datasets": [{"path": "full"}]}]})")->header().frames,
              2); // OME-Zarr 0.1
}

TEST_F(Zarr, of_ome_with_invalid_metadata_is_refused) {
    const auto refuses = [&](const std::string& attributes, const std::string& text) {
        EXPECT_THAT(failure([&] { open_image(attributes); }), HasSubstr(text));
    };
    refuses("[1]", "/.zattrs: is an array of 1");
    refuses("{", "/.zattrs: is not JSON");
    refuses(R"({"multiscales": 3})", "multiscales is 3");
    refuses(R"({"multiscales": [{}]})", "multiscales[0].datasets is missing");
    refuses(R"({"multiscales": [{"datasets": []}]})",
            "multiscales[0].datasets is an array of 0, expected at least one");
    refuses(R"({"multiscales": [{"datasets": [{"path": 0}]}]})", "datasets[0].path is 0");
    refuses(R"({"multiscales": [{"datasets": [{"path": "none"}]}]})",
            ": has no array or group none");
    refuses(R"({"multiscales": [{"datasets": [{"path": "."}]}]})",
            "has groups of images that are nested too deeply");
    refuses(image_of(R"("axes": ["y", "x"])"),
            "axes is an array of 2, expected a list of 5 axes as in the array");
    refuses(image_of(R"("axes": ["t", "c", "z", "y", 7])"), "axes[4] is 7");
    std::string scale = image_of(axes_of_image);
    scale.replace(scale.find("0.25"), 4, "true");
    refuses(scale, "scale[4] is true");
    scale.replace(scale.find(", true"), 6, "");
    refuses(scale, "scale is an array of 4, expected a list of 5 numbers");
    std::string size = image_of(axes_of_image);
    size.replace(size.find("0.25"), 4, "1e300");
    EXPECT_THAT(remarks(*open_image(size)), HasSubstr("is implausible and is ignored"));
}

TEST_F(Zarr, in_a_group_is_the_only_array_that_is_not_of_labels) {
    write_zarr(path + "/raw/em", {});
    write_zarr(path + "/cells.zarr/0", {});
    EXPECT_THAT(refusal(), HasSubstr("holds several arrays"));
    put_file(path + "/cells.zarr/.zattrs", R"({"image-label": {"version": "0.4"}})");
    const auto source = format::open_frames(path);
    EXPECT_TRUE(holds_pattern(*source));
    EXPECT_EQ(remarks(*source), "raw/em is read; the group also contains labels: cells.zarr/0");
    write_zarr(path + "/labels/nuclei/0", {});
    put_file(path + "/labels/nuclei/.zattrs", R"({"image-label": {}})");
    EXPECT_EQ(remarks(*format::open_frames(path)),
              "raw/em is read; the group also contains labels: cells.zarr/0, labels/nuclei/0");
    std::filesystem::remove_all(path + "/raw");
    EXPECT_THAT(refusal(), HasSubstr("cells.zarr/0, labels/nuclei/0"));
}

TEST_F(Zarr, in_a_group_is_the_named_or_the_only_array) {
    put_file(path + "/.zgroup", R"({"zarr_format": 2})");
    EXPECT_EQ(refusal(), ": is a Zarr group without arrays");
    write_zarr(path + "/raw/em", {});
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    EXPECT_TRUE(holds_pattern(*format::open_frames(path + "/")));
    write_zarr(path + "/labels", {.sides = {7, 13}, .chunk = {7, 13}, .type = "|u1"});
    EXPECT_EQ(refusal(), ": holds several arrays, expected one of their names after \"::\": "
                         "labels, raw/em");
    for (const std::string detail : {"::raw/em", "::/raw/em/", "::raw", "/::raw"})
        EXPECT_EQ(format::open_frames(path + detail)->header().frames, 3) << detail;
    EXPECT_EQ(format::open_frames(path + "::labels")->header().sample, Sample::u8);
    EXPECT_EQ(refusal("::none"), ": has no array or group none");
    for (const std::string detail : {"::../a.zarr/labels", "::labels/../labels", "::.."})
        EXPECT_THAT(refusal(detail), HasSubstr("leads out of its group")) << detail;
}

TEST_F(Zarr, of_bioformats_2_raw_is_the_first_image) {
    put_file(path + "/.zattrs", R"({"bioformats2raw.layout": 3})");
    put_file(path + "/0/.zattrs",
             R"({"multiscales": [{"axes": ["z", "y", "x"], "datasets": [{"path": "0"}]}]})");
    write_zarr(path + "/0/0", {});
    write_zarr(path + "/1/0", {.sides = {2, 7, 13}});
    EXPECT_EQ(format::open_frames(path)->header().frames, 3);
}

/// Writes a signal as HyperSpy does, with arrays of metadata next to it. `axes` are the attributes
/// of its axes; those of axes without any are "".
void write_signal(const std::string& group, const std::vector<std::string>& axes,
                  const ZarrPattern& array = {}) {
    std::filesystem::remove_all(group);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        put_file(fmt::format("{}/axis-{}/.zgroup", group, axis), R"({"zarr_format": 2})");
        if (!axes[axis].empty())
            put_file(fmt::format("{}/axis-{}/.zattrs", group, axis), axes[axis]);
    }
    write_zarr(group + "/data", array);
    write_zarr(group + "/learning_results/factors", {.sides = {2, 2}, .chunk = {2, 2}});
    put_file(group + "/original_metadata/_list_words/.zarray", "damaged");
}

std::string axis_of_signal(const std::string& name, double scale, const std::string& unit) {
    return fmt::format(R"({{"_type": "UniformDataAxis", "name": "{}", "scale": {}, "units": "{}", )"
                       R"("offset": 0, "size": 3, "navigate": true}})",
                       name, scale, unit);
}

TEST_F(Zarr, of_hyperspy_is_the_signal_with_its_axes) {
    path = folder.path("a.zspy");
    const std::string row = axis_of_signal("y", .5, "nm"), column = axis_of_signal("x", .25, "nm");
    write_signal(path + "/Experiments/first", {axis_of_signal("time", 2, "s"), row, column});
    for (const std::string detail :
         {"", "::Experiments", "::Experiments/first", "::Experiments/first/data"}) {
        const auto source = format::open_frames(path + detail);
        EXPECT_TRUE(holds_pattern(*source)) << detail;
        EXPECT_EQ(source->header().pixel, (PixelSize{.25, .5, "nm"}));
        EXPECT_EQ(source->header().frame_interval, 2);
        EXPECT_EQ(source->header().slice_distance, 0);
        EXPECT_THAT(format::open_array(path + detail, {}, 0)->header().names,
                    testing::ElementsAre("t", "y", "x"));
    }
    EXPECT_EQ(format::format_of_frames(path), "HyperSpy Zarr");
    EXPECT_THAT(failure([&] { format::require_writable_output(path); }),
                HasSubstr("can only be read"));
    // Slices; an axis without a name, and one without attributes.
    write_signal(path + "/Experiments/first",
                 {axis_of_signal("_None_", 1, "µm"), "", axis_of_signal("x", 4, "nm")});
    EXPECT_FALSE(format::open_frames(path)->header().pixel.known());
    EXPECT_THAT(format::open_array(path, {}, 0)->header().names, testing::IsEmpty());
    write_signal(path + "/Experiments/first",
                 {axis_of_signal("_None_", 1, "µm"), axis_of_signal("y", 4, "nm"),
                  axis_of_signal("x", 4, "nm")});
    EXPECT_DOUBLE_EQ(format::open_frames(path)->header().slice_distance, 1000);
    write_signal(path + "/Experiments/other one", {"", row, column});
    EXPECT_EQ(refusal(), ": holds several signals, expected one of their names after \"::\": "
                         "Experiments/first/data, Experiments/other one/data");
    EXPECT_EQ(format::open_frames(path + "::Experiments/other one")->header().frame_interval, 0);
    put_file(path + "/Experiments/first/axis-1/.zattrs", R"({"scale": "wide"})");
    EXPECT_THAT(refusal("::Experiments/first"), HasSubstr("axis-1/.zattrs: scale is \"wide\""));
}

TEST_F(Zarr, is_a_format_of_folders_with_its_extension) {
    write_zarr(path, {});
    EXPECT_EQ(format::format_of_frames(path), "Zarr");
    EXPECT_EQ(format::format_of_frames(path + "/"), "Zarr");
    EXPECT_EQ(format::format_of_frames(path + "::"), "Zarr");
    EXPECT_EQ(format::files_of_frames(path + "::"), (std::vector{path}));
    EXPECT_FALSE(format::find_frame_files(path));
    EXPECT_EQ(failure([&] { format::open_frames(folder.path("none.zarr")); }),
              folder.path("none.zarr") + ": no such file");
    fill_file(folder.path("file.zarr"), "x");
    EXPECT_EQ(failure([&] { format::open_frames(folder.path("file.zarr")); }),
              folder.path("file.zarr") + ": is a file, expected a folder of Zarr arrays");
    std::filesystem::rename(path, folder.path("other"));
    EXPECT_THAT(failure([&] { format::open_frames(folder.path("other")); }),
                HasSubstr("is a Zarr folder without the extension .zarr"));
    std::filesystem::create_directory(path);
    EXPECT_EQ(refusal(), ": is not a Zarr array or group: it has no zarr.json, .zarray, .zgroup or "
                         "array");
}

} // namespace
} // namespace sextant::test
