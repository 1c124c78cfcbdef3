// SPDX-License-Identifier: BSD-3-Clause
// The sign convention of motions, checked in pixels: the frames of a series that drifts to the
// right show this drift, registration reports it, and aligned frames are free of it.
#include "sextant/comm/threads.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/format/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::command {
namespace {

using testing::HasSubstr;

constexpr ImageShape shape{96, 80};
constexpr std::int64_t frames = 4;

void run(const Operation& operation,
         const std::map<std::string, std::vector<std::string>>& options) {
    run_command(operation, options);
}

/// Writes an image of two bright discs of different sizes, which make rotations visible.
void write_discs(const std::string& path) {
    FrameHeader header;
    header.frames = 1;
    header.shape = shape;
    std::vector<float> pixels;
    const auto disc = [](double x, double y, double radius) {
        return 1 / (1 + std::exp(2 * (std::hypot(x, y) - radius)));
    };
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
            const auto at_x = static_cast<double>(x), at_y = static_cast<double>(y);
            pixels.push_back(static_cast<float>(.02 + disc(at_x - 36, at_y - 40, 9) +
                                                disc(at_x - 60, at_y - 34, 5)));
        }
    }
    const auto sink = format::create_frames(path, header);
    sink->write(pixels);
    sink->commit();
}

struct Seen {
    double x = 0, y = 0; ///< centroid of the bright pixels
    double angle = 0;    ///< direction of the longer axis, in degrees clockwise from the right
};

Seen seen_in(const std::string& path, std::int64_t frame) {
    std::vector<float> pixels(static_cast<std::size_t>(shape.elements()));
    format::open_frames(path)->read_frame(frame, pixels);
    std::replace_if(
        pixels.begin(), pixels.end(), [](float pixel) { return std::isnan(pixel); }, 0);
    const double dark = .3 * static_cast<double>(*std::max_element(pixels.begin(), pixels.end()));
    double sum = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const double weight = static_cast<double>(pixels[i]) > dark ? 1 : 0;
        const auto at_x = static_cast<double>(i % static_cast<std::size_t>(shape.width));
        const auto at_y = static_cast<double>(i / static_cast<std::size_t>(shape.width));
        sum += weight;
        x += weight * at_x;
        y += weight * at_y;
        xx += weight * at_x * at_x;
        xy += weight * at_x * at_y;
        yy += weight * at_y * at_y;
    }
    x /= sum;
    y /= sum;
    const double axis = std::atan2(2 * (xy / sum - x * y), xx / sum - x * x - yy / sum + y * y) / 2;
    return {x, y, axis * 180 / std::numbers::pi};
}

class Drift : public testing::Test {
  protected:
    /// Writes a series that drifts to the right and up, and rotates clockwise.
    Drift() {
        write_discs(image);
        run(synthesize_operation(), {{"output", {movie}},
                                     {"image", {image}},
                                     {"frames", {std::to_string(frames)}},
                                     {"width", {std::to_string(shape.width)}},
                                     {"height", {std::to_string(shape.height)}},
                                     {"dose", {"400"}},
                                     {"drift_x", {"4"}},
                                     {"drift_y", {"-2"}},
                                     {"rotation", {"3"}},
                                     {"random_step", {"0"}}});
    }

    test::TemporaryFolder folder;
    std::string image = folder.path("discs.npy"), movie = folder.path("movie.npy");
};

TEST_F(Drift, moves_the_specimen_by_the_requested_pixels) {
    const Seen first = seen_in(movie, 0);
    for (std::int64_t frame = 1; frame < frames; ++frame) {
        const Seen seen = seen_in(movie, frame);
        const auto i = static_cast<double>(frame);
        // The centroid rotates about the centre of the frame.
        const double turn = 3 * i * std::numbers::pi / 180;
        const double right = first.x - 47.5, down = first.y - 39.5;
        EXPECT_NEAR(seen.x, 47.5 + std::cos(turn) * right - std::sin(turn) * down + 4 * i, .3);
        EXPECT_NEAR(seen.y, 39.5 + std::sin(turn) * right + std::cos(turn) * down - 2 * i, .3);
        EXPECT_NEAR(seen.angle - first.angle, 3 * i, .7);
    }
    EXPECT_GT(seen_in(movie, 3).x, first.x + 10);
    EXPECT_LT(seen_in(movie, 3).y, first.y - 3);
}

TEST_F(Drift, is_written_to_the_truth_file) {
    const auto truth = nlohmann::json::parse(std::ifstream(movie + ".json"));
    for (const auto& frame : truth["frames"]) {
        const auto i = frame["frame"].get<double>();
        EXPECT_NEAR(frame["to_first"]["tx"].get<double>(), 4 * i, 1e-12);
        EXPECT_NEAR(frame["to_first"]["ty"].get<double>(), -2 * i, 1e-12);
        EXPECT_NEAR(frame["to_first"]["alpha"].get<double>(), 3 * i * std::numbers::pi / 180,
                    1e-12);
    }
}

TEST_F(Drift, is_recovered_by_registration_and_removed_by_alignment) {
    const std::string out = folder.path("out"), page = folder.path("page.html");
    run(register_operation(), {{"series", {movie}},
                               {"output", {out}},
                               {"stages", {"1"}},
                               {"ranks", {"1"}},
                               {"report", {page}},
                               {"aligned", {"on"}}});
    const SeriesTransforms found = read_transforms(out + "/transforms.json");
    ASSERT_EQ(found.frames.size(), 4U);
    for (const FrameRegistration& place : found.frames) {
        const auto i = static_cast<double>(place.frame);
        EXPECT_NEAR(place.result.motion.tx, 4 * i, .2);
        EXPECT_NEAR(place.result.motion.ty, -2 * i, .2);
        EXPECT_NEAR(place.result.motion.alpha * 180 / std::numbers::pi, 3 * i, .5);
    }
    const Seen first = seen_in(out + "/aligned.tif", 0), last = seen_in(out + "/aligned.tif", 3);
    EXPECT_NEAR(last.x, first.x, .3);
    EXPECT_NEAR(last.y, first.y, .3);
    EXPECT_NEAR(last.angle, first.angle, .7);

    std::ifstream csv(out + "/transforms.csv");
    const std::string table(std::istreambuf_iterator<char>(csv), {});
    EXPECT_THAT(table, HasSubstr("a drift to the right increases tx"));
    EXPECT_NE(table.find("\n3,"), table.npos);
    std::ifstream html(page);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(html), {}),
                HasSubstr("to the right (x) and downward (y)"));
}

} // namespace
} // namespace sextant::command
