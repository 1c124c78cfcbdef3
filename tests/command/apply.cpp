// SPDX-License-Identifier: BSD-3-Clause
// Transforms applied to images and coordinates.
#include "sextant/command/commands.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numbers>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;

constexpr ImageShape shape{12, 9};
constexpr double quarter = std::numbers::pi / 2;

float value_at(std::int64_t frame, std::int64_t x, std::int64_t y) {
    return static_cast<float>(100 * frame + 10 * y + x);
}

class Apply : public testing::Test {
  protected:
    /// Frame 0 is not moved, frame 1 was left out, frame 2 is moved by whole pixels, frame 3
    /// rotated by 90 degrees.
    Apply() {
        SeriesTransforms all = transforms_of(4);
        all.frames[1].left_out = "dark";
        all.frames[2].result.motion = {0, 3, -2};
        all.frames[3].result.motion = {quarter, 0, 0};
        store(all);
    }

    /// Transforms of frames that are not moved.
    static SeriesTransforms transforms_of(std::size_t frames, const char* model = "rigid") {
        SeriesTransforms all;
        all.series = "movie.npy";
        all.model = model;
        all.shape = shape;
        all.frames.resize(frames);
        for (std::size_t i = 0; i < frames; ++i)
            all.frames[i].frame = static_cast<std::int64_t>(i);
        return all;
    }

    void store(const SeriesTransforms& all) const {
        std::ofstream file(transforms);
        write_json(all, [&file](std::string_view part) { file << part; });
    }

    /// Writes a series of these samples, frame by frame.
    static void write_samples(const std::string& path, ImageShape of, std::span<const float> all) {
        const auto size = static_cast<std::size_t>(of.elements());
        FrameHeader header;
        header.frames = static_cast<std::int64_t>(all.size() / size);
        header.shape = of;
        const auto sink = format::create_frames(path, header);
        for (std::size_t first = 0; first < all.size(); first += size)
            sink->write(all.subspan(first, size));
        sink->commit();
    }

    static void write_movie(const std::string& path, std::int64_t frames, ImageShape of = shape) {
        std::vector<float> samples;
        for (std::int64_t frame = 0; frame < frames; ++frame) {
            for (std::int64_t i = 0; i < of.elements(); ++i)
                samples.push_back(value_at(frame, i % of.width, i / of.width));
        }
        write_samples(path, of, samples);
    }

    static std::vector<float> frame_of(const std::string& path, std::int64_t frame) {
        const auto source = format::open_frames(path);
        std::vector<float> samples(static_cast<std::size_t>(source->header().shape.elements()));
        source->read_frame(frame, samples);
        return samples;
    }

    /// Writes transforms of three frames whose row y is displaced by (y, dy · y / 8), and their
    /// rows.
    void write_rows(float dy, float first = 0, std::int64_t flyback = 0) const {
        SeriesTransforms all = transforms_of(3);
        all.rows = RowFile{"rows.npy", shape.height, flyback};
        store(all);
        std::vector<float> numbers;
        for (std::int64_t i = 0; i < 3 * shape.height; ++i) {
            const auto row = static_cast<float>(i % shape.height);
            numbers.insert(numbers.end(), {first + row, dy * row / 8, .1F});
        }
        write_samples(folder.path("rows.npy"), {3, shape.height}, numbers);
    }

    void apply(const std::string& data, const std::string& output,
               std::map<std::string, std::vector<std::string>> options = {}) const {
        options["transforms"] = {transforms};
        options["data"] = {data};
        options["output"] = {output};
        const Operation operation = apply_operation();
        run_command(operation, options);
    }

    /// Expects the movie not to be aligned.
    void refuses(const std::string& text,
                 const std::map<std::string, std::vector<std::string>>& options = {}) {
        EXPECT_THAT(refusal(movie, shown, options), HasSubstr(text));
    }
    std::string refusal(const std::string& data, const std::string& output,
                        const std::map<std::string, std::vector<std::string>>& options = {}) const {
        return test::message_of<Error>([&] { apply(data, output, options); });
    }

    std::vector<FramePoint>
    points_of(const std::string& text,
              const std::map<std::string, std::vector<std::string>>& options = {}) const {
        const std::string from = folder.path("from.csv"), to = folder.path("to.csv");
        std::ofstream(from) << text;
        apply(from, to, options);
        return read_coordinates(to);
    }

    test::TemporaryFolder folder;
    std::string transforms = folder.path("transforms.json");
    std::string movie = folder.path("movie.npy"), shown = folder.path("shown.npy");
};

TEST_F(Apply, aligns_frames_and_fills_outside_pixels_with_NaN) {
    write_movie(movie, 4);
    apply(movie, shown);
    ASSERT_EQ(format::open_frames(shown)->header().frames, 3); // without frame 1
    EXPECT_EQ(frame_of(shown, 0)[15], value_at(0, 3, 1));
    const std::vector<float> pixels =
        frame_of(shown, 1); // pixel (x, y) of the result is (x + 3, y - 2) of frame 2
    EXPECT_EQ(pixels[static_cast<std::size_t>(4 * 12 + 5)], value_at(2, 8, 2));
    EXPECT_TRUE(std::isnan(pixels[static_cast<std::size_t>(1 * 12 + 5)])); // above the frame
    EXPECT_TRUE(
        std::isnan(pixels[static_cast<std::size_t>(4 * 12 + 10)])); // beyond the right border
}

TEST_F(Apply, aligns_a_single_selected_frame) {
    write_movie(movie, 1);
    apply(movie, shown, {{"frame", {"2"}}});
    const std::vector<float> pixels = frame_of(shown, 0);
    EXPECT_EQ(pixels[static_cast<std::size_t>(4 * 12 + 5)], value_at(0, 8, 2));
    refuses("frame 1 was left out: dark", {{"frame", {"1"}}});
    refuses("has no frame 9", {{"frame", {"9"}}});
}

TEST_F(Apply, writes_a_pyramid_without_halving_frames) {
    const ImageShape wide{301, 9};
    SeriesTransforms all = transforms_of(2);
    all.shape = wide;
    all.frames[1].result.motion = {0, 1, 0};
    store(all);
    write_movie(movie, 2, wide);
    const std::string zarr = folder.path("shown.zarr");
    apply(movie, zarr, {{"pyramid", {"true"}}});
    const auto half = format::open_frames(zarr + "::1");
    EXPECT_EQ(half->header().frames, 2);
    EXPECT_EQ(half->header().shape, (ImageShape{151, 5}));
    std::vector<float> pixels = frame_of(zarr + "::1", 0);
    EXPECT_EQ(pixels[151 + 2], value_at(0, 4, 2) + 5.5F) << "the mean of 2 x 2 pixels";
    EXPECT_EQ(pixels[4 * 151 + 2], value_at(0, 4, 8) + .5F) << "of the last row";
    pixels = frame_of(zarr + "::1", 1);
    EXPECT_TRUE(std::isnan(pixels[150])) << "outside the frame";
    refuses("cannot hold a pyramid", {{"pyramid", {"true"}}});
    EXPECT_FALSE(std::filesystem::exists(shown));
    std::ofstream(folder.path("points.csv")) << "frame,x,y\n0,1,2\n";
    EXPECT_THAT(refusal(folder.path("points.csv"), folder.path("to.csv"), {{"pyramid", {"true"}}}),
                HasSubstr("--pyramid has no effect here"));
}

/// Samples with all kinds of bit patterns, some of them not finite.
std::vector<float> odd_samples() {
    std::vector<float> samples(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = std::ldexp(static_cast<float>(i) - 50.5F, static_cast<int>(i * 7 % 240) - 120);
    samples[5 * 12 + 6] = std::numeric_limits<float>::quiet_NaN();
    samples[5 * 12 + 2] = std::numeric_limits<float>::infinity();
    samples[3 * 12 + 11] = -std::numeric_limits<float>::infinity(); // at the right border
    samples[8 * 12 + 3] = std::numeric_limits<float>::quiet_NaN();  // at the bottom border
    samples[4 * 12 + 4] = -0.F;
    return samples;
}

TEST_F(Apply, copies_samples_exactly_for_whole_pixel_motions) {
    const std::vector<float> samples = odd_samples();
    write_samples(movie, shape, samples);
    for (const auto& [frame, right, down] : {std::array{0, 0, 0}, std::array{2, 3, -2}}) {
        apply(movie, shown, {{"frame", {std::to_string(frame)}}});
        const std::vector<float> pixels = frame_of(shown, 0);
        for (std::int64_t y = 0; y < shape.height; ++y) {
            for (std::int64_t x = 0; x < shape.width; ++x) {
                const std::int64_t from_x = x + right, from_y = y + down;
                if (from_x < 0 || from_y < 0 || from_x >= shape.width || from_y >= shape.height)
                    continue;
                EXPECT_EQ(std::bit_cast<std::uint32_t>(
                              pixels[static_cast<std::size_t>(y * shape.width + x)]),
                          std::bit_cast<std::uint32_t>(
                              samples[static_cast<std::size_t>(from_y * shape.width + from_x)]))
                    << x << " " << y << " by " << right << " " << down;
            }
        }
    }
}

TEST_F(Apply, widens_a_gap_only_along_the_interpolated_axis) {
    SeriesTransforms all = transforms_of(1);
    all.frames[0].result.motion = {0, .5, 2};
    store(all);
    std::vector<float> samples(static_cast<std::size_t>(shape.elements()), 1);
    samples[5 * 12 + 6] = std::numeric_limits<float>::quiet_NaN();
    write_samples(movie, shape, samples);
    apply(movie, shown);
    samples = frame_of(shown, 0);
    std::vector<std::size_t> gaps;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (i % 12 < 11 && i < 7 * 12 && std::isnan(samples[i]))
            gaps.push_back(i);
    }
    EXPECT_EQ(gaps, (std::vector<std::size_t>{3 * 12 + 5, 3 * 12 + 6}));
}

TEST_F(Apply, maps_frames_and_points_by_a_matrix) {
    SeriesTransforms all = transforms_of(1, "affine");
    all.frames[0].result.motion = {0, 1, -2};
    all.frames[0].affine = registration::AffineMotion{1.5, 0, 0, .5, 1, -2};
    store(all);
    const auto in_frame = points_of("0,7.5,6\n", {{"from_reference", {"true"}}});
    ASSERT_EQ(in_frame.size(), 1U);
    EXPECT_NEAR(in_frame[0].at.x, 9.5, 1e-3); // 1.5 (7.5 − 5.5) + 5.5 + 1
    EXPECT_NEAR(in_frame[0].at.y, 3, 1e-3);   // .5 (6 − 4) + 4 − 2
    const auto in_reference = points_of("0,9.5,3\n");
    EXPECT_NEAR(in_reference.at(0).at.x, 7.5, 1e-3);
    EXPECT_NEAR(in_reference.at(0).at.y, 6, 1e-3);
    write_movie(movie, 1);
    apply(movie, shown);
    const std::vector<float> samples = frame_of(shown, 0);
    EXPECT_NEAR(samples[6 * 12 + 7], 10 * 3 + 8.75, 1e-3); // the sample at (8.75, 3)
}

TEST_F(Apply, uses_the_area_of_the_average_and_its_pixels) {
    SeriesTransforms all = transforms_of(1);
    all.frames[0].result.motion = {0, 1, -2};
    all.canvas = registration::PixelArea{-3, 2, {20, 5}};
    store(all);
    // Pixel (4, 5) of the frame is (3, 7) of the reference, and (6, 5) of the average.
    const auto in_average = points_of("0,4,5\n");
    EXPECT_NEAR(in_average.at(0).at.x, 6, 1e-3);
    EXPECT_NEAR(in_average.at(0).at.y, 5, 1e-3);
    const auto back = points_of("0,6,5\n", {{"from_reference", {"true"}}});
    EXPECT_NEAR(back.at(0).at.x, 4, 1e-3);
    EXPECT_NEAR(back.at(0).at.y, 5, 1e-3);
    write_movie(movie, 1);
    apply(movie, shown);
    EXPECT_EQ(format::open_frames(shown)->header().shape, (ImageShape{20, 5}));
    const std::vector<float> samples = frame_of(shown, 0);
    const std::vector<float> recorded = frame_of(movie, 0);
    EXPECT_EQ(samples[3 * 20 + 6], recorded[3 * 12 + 4]);
    EXPECT_TRUE(std::isnan(samples[0])) << "this pixel is left of the frame";
    all.canvas->shape.width = 0;
    store(all);
    refuses("width");
}

TEST_F(Apply, refuses_an_area_that_needs_more_memory_than_allowed) {
    SeriesTransforms all = read_transforms(transforms);
    all.canvas = registration::PixelArea{0, 0, {1 << 15, 1 << 15}};
    store(all);
    const std::string output = folder.path("aligned.npy");
    write_movie(folder.path("movie.npy"), 4);
    EXPECT_THAT([&] { apply(folder.path("movie.npy"), output); },
                testing::ThrowsMessage<InvalidTask>(
                    HasSubstr("memory 1G is too small for an aligned frame of 32768x32768, "
                              "expected 8G or more")));
    EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(Apply, displaces_each_row_of_scanned_frames) {
    write_rows(0);
    write_movie(movie, 3);
    apply(movie, shown);
    std::vector<float> pixels = frame_of(shown, 1);
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
            const float found = pixels[static_cast<std::size_t>(y * shape.width + x)];
            if (x + y < shape.width) {
                EXPECT_EQ(found, value_at(1, x + y, y)) << x << " " << y;
            } else {
                EXPECT_TRUE(std::isnan(found)) << x << " " << y;
            }
        }
    }
    write_rows(0, 0, 2); // two disturbed columns
    apply(movie, shown);
    pixels = frame_of(shown, 1);
    EXPECT_TRUE(std::isnan(pixels[1]));
    EXPECT_EQ(pixels[2], value_at(1, 2, 0));
    EXPECT_EQ(pixels[static_cast<std::size_t>(2 * shape.width)], value_at(1, 2, 2));
    const std::vector<FramePoint> points = points_of("frame,x,y\n2,7,4\n0,5,2.5\n");
    EXPECT_EQ(points[0].at, (registration::Point{3, 4}));
    EXPECT_EQ(points[1].at, (registration::Point{2.5, 2.5}));
    EXPECT_EQ(points_of("frame,x,y\n2,3,4\n", {{"from_reference", {"true"}}})[0].at,
              (registration::Point{7, 4}));
}

TEST_F(Apply, refuses_rows_that_do_not_fit_the_frames) {
    write_movie(movie, 3);
    const std::string rows = folder.path("rows.npy");
    write_rows(8);
    refuses("expected a difference of less than a pixel");
    write_rows(0, std::numeric_limits<float>::quiet_NaN());
    refuses("expected finite numbers");
    write_movie(rows, 3);
    refuses("expected 3 of 3×9 as stated in");
    std::filesystem::remove(rows);
    refuses("rows.npy");
}

TEST_F(Apply, refuses_displacement_fields_containing_NaN) {
    SeriesTransforms all = transforms_of(1, "nonrigid");
    all.fields = FieldFile{"fields.npy", 8, {3, 2}};
    store(all);
    std::vector<float> planes(24);
    planes[6 + 4] = std::numeric_limits<float>::quiet_NaN();
    write_samples(folder.path("fields.npy"), {3, 2}, planes);
    write_movie(movie, 1);
    refuses("fields.npy: plane 1: node 4 is nan, expected a finite number");
    EXPECT_FALSE(std::filesystem::exists(shown));
}

TEST_F(Apply, maps_coordinates_to_the_reference_and_back) {
    const std::vector<FramePoint> there = points_of("frame,x,y\n2,8,2\n3,5.5,6\n");
    ASSERT_EQ(there.size(), 2U);
    EXPECT_DOUBLE_EQ(there[0].at.x, 5);
    EXPECT_DOUBLE_EQ(there[0].at.y, 4);
    EXPECT_NEAR(there[1].at.x, 7.5, 1e-4); // two pixels below the centre (5.5, 4), rotated back
    EXPECT_NEAR(there[1].at.y, 4, 1e-4);
    const std::vector<FramePoint> back =
        points_of("2,5,4\n3,7.5,4\n", {{"from_reference", {"true"}}});
    EXPECT_NEAR(back[0].at.x, 8, 1e-4);
    EXPECT_NEAR(back[1].at.y, 6, 1e-4);
    // the byte order mark that spreadsheets write
    EXPECT_EQ(points_of("\xef\xbb\xbf 0,1,2\n").size(), 1U);
    EXPECT_EQ(points_of("Frame, X (px), Y (px)\r\n0,1,2\r\n").size(), 1U);
}

TEST_F(Apply, refuses_mismatched_input_and_writes_no_output) {
    write_movie(movie, 3);
    refuses("has 3 frames, expected the 4 that were registered");
    write_movie(movie, 4, {12, 10});
    refuses("is 12×10, expected 12×9");
    write_movie(movie, 4);
    refuses("is not a table of coordinates", {{"from_reference", {"true"}}});
    EXPECT_THAT(refusal(movie, folder.path("none/shown.npy")), HasSubstr("none"));
    EXPECT_FALSE(std::filesystem::exists(shown));
    std::ofstream(transforms) << R"({"kind": "sextant transforms", "version": 1, "series": "a",
        "model": "rigid", "reference": 0, "width": 12, "height": 9, "frames":
        [{"frame": 0, "left_out": "a"}, {"frame": 0, "left_out": "b"}]})";
    refuses("lists frame 0 twice");
    std::ofstream(transforms) << R"({"kind": "sextant transforms", "version": 1, "series": "a",
        "model": "nonrigid", "reference": 0, "width": 12, "height": 9, "frames": []})";
    refuses("transforms.json: fields is missing");
    std::ofstream(transforms) << R"({"kind": "sextant transforms", "version": 1, "series": "a",
        "model": "rigid", "reference": 5, "width": 12, "height": 9, "frames":
        [{"frame": 5, "alpha": 0, "tx": 0, "ty": 0}]})";
    write_movie(movie, 1);
    refuses("has frames 0 to 0, but frame 5 was registered");
    apply(movie, shown, {{"frame", {"5"}}}); // alpha: the name before 0.10
    const auto rotated = [&](const std::string& angle) {
        std::ofstream(transforms) << R"({"kind": "sextant transforms", "version": 1, "series": "a",
            "model": "rigid", "reference": 5, "width": 12, "height": 9, "frames":
            [{"frame": 5, )" + angle + R"("tx": 0, "ty": 0}]})";
    };
    rotated("");
    refuses("alpha_rad is missing", {{"frame", {"5"}}});
    rotated(R"("alpha_rad": 0.5, "alpha": 0.25, )");
    refuses("alpha is 0.25, expected 0.5, as alpha_rad", {{"frame", {"5"}}});
    rotated(R"("alpha_rad": 0.5, "alpha": 0.5, )");
    apply(movie, shown, {{"frame", {"5"}}});
}

TEST_F(Apply, names_the_invalid_line_of_a_coordinate_file) {
    const auto refused = [&](const std::string& text) {
        const std::string from = folder.path("bad.csv");
        std::ofstream(from) << text;
        return refusal(from, folder.path("to.csv"));
    };
    EXPECT_THAT(refused("# points\nframe,x,y\n0,1,2\n0,1\n"),
                HasSubstr("bad.csv: line 4: \"0,1\""));
    EXPECT_THAT(refused("0,1,nan\n"), HasSubstr("line 1"));
    EXPECT_THAT(refused("0,1,2\n1,2,3\n"), HasSubstr("line 2: "));
    // Columns in another order would be misread, and an invalid first point would be taken for a
    // header.
    EXPECT_THAT(
        refused("x,y,frame\n1,2,0\n"),
        HasSubstr("line 1: \"x,y,frame\", expected the header frame,x,y or a frame number"));
    EXPECT_THAT(refused("0;1;2\n"), HasSubstr("line 1: \"0;1;2\""));
    EXPECT_FALSE(std::filesystem::exists(folder.path("to.csv")));
}

} // namespace
} // namespace sextant::command
