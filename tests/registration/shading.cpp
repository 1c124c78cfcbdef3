// SPDX-License-Identifier: BSD-3-Clause
// Large-scale shading of frames, and its removal before registration.
#include "sextant/registration/correct/shading.hpp"

#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::ChangedFrames;
using registration::Shading;

/// A smooth bump, in the middle of the left border of a frame of 128x128 pixels.
float bump(Elements x, Elements y) {
    const double distance = std::hypot(static_cast<double>(x), static_cast<double>(y) - 64);
    return static_cast<float>(std::exp(-distance * distance / (2 * 64 * 64)));
}

void add_bump(kernel::FloatPlane& frame, float height) {
    for (Elements y = 0; y < 128; ++y) {
        for (Elements x = 0; x < 128; ++x)
            frame.row(y)[x] += height * bump(x, y);
    }
}

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments_of(std::span<const float> samples) {
    double sum = 0, squares = 0, count = 0;
    for (const float sample : samples) {
        if (!std::isfinite(sample))
            continue;
        sum += static_cast<double>(sample);
        squares += static_cast<double>(sample) * static_cast<double>(sample);
        ++count;
    }
    return {sum / count, std::sqrt(squares / count - std::pow(sum / count, 2))};
}

TEST(Shading, is_removed_up_to_the_border_without_a_change_of_the_mean) {
    FramesMade frames;
    frames.emplace_back(ImageShape{128, 128});
    add_bump(frames[0], 40);
    frames[0].row(5)[7] = std::numeric_limits<float>::quiet_NaN();
    MadeSource source(frames);
    ChangedFrames flattened(source, registration::without_shading(source));
    std::vector<float> before(128 * 128), after(128 * 128), rows(3 * 128);
    source.read_frame(0, before);
    flattened.read_frame(0, after);
    EXPECT_NEAR(moments_of(after).mean, moments_of(before).mean, .1);
    EXPECT_LT(moments_of(after).deviation, .2 * moments_of(before).deviation);
    EXPECT_TRUE(std::isnan(after[5 * 128 + 7]));
    flattened.read_rows(0, {30, 33}, rows);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), after.begin() + 30 * 128));
}

TEST(Shading, leaves_fine_detail) {
    FramesMade frames;
    frames.emplace_back(ImageShape{128, 128});
    for (Elements y = 0; y < 128; ++y) {
        for (Elements x = 0; x < 128; ++x)
            frames[0].row(y)[x] = static_cast<float>(std::sin(.5 * static_cast<double>(x)));
    }
    MadeSource source(frames);
    std::vector<float> before(128 * 128), after(128 * 128);
    source.read_frame(0, before);
    ChangedFrames(source, registration::without_shading(source)).read_frame(0, after);
    // At the border, the means of cells are averaged over one side only.
    for (std::size_t pixel = 0; pixel < before.size(); ++pixel) {
        const bool inside = pixel % 128 >= 32 && pixel % 128 < 96;
        ASSERT_NEAR(after[pixel], before[pixel], inside ? .05 : .2);
    }
}

/// Registers a series to which a growing bump that moves with the specimen was added.
RegistrationResult with_growing_bump(float height, Flattening flatten) {
    MadeSeries made = make_series(12);
    for (int frame = 0; frame < 12; ++frame) {
        const RigidMotion motion = made.series.motion(frame);
        for (Elements y = 0; y < 128; ++y) {
            for (Elements x = 0; x < 128; ++x) {
                const Point at =
                    apply(inverse(motion), {static_cast<double>(x), static_cast<double>(y)},
                          registration::centre({128, 128}));
                const double distance = std::hypot(at.x, at.y - 64);
                made.frames[static_cast<std::size_t>(frame)].row(y)[x] +=
                    height * static_cast<float>(frame) / 11 *
                    static_cast<float>(std::exp(-distance * distance / (2 * 48 * 48)));
            }
        }
    }
    RegistrationOptions options;
    options.flatten = flatten;
    return registration_of(made.frames, options);
}

double worst_error(const RegistrationResult& result) {
    const MadeSeries made = make_series(12);
    double worst = 0;
    for (const FrameRegistration& a : result.frames) {
        for (const FrameRegistration& b : result.frames) {
            const RigidMotion found = compose(b.result.motion, inverse(a.result.motion));
            const RigidMotion truth =
                made.series.between(static_cast<int>(a.frame), static_cast<int>(b.frame));
            worst = std::max(worst, rms_distance(found, truth, {128, 128}, central));
        }
    }
    return worst;
}

TEST(Shading, that_grows_is_removed_before_registration_but_not_from_the_average) {
    const RegistrationResult clean = with_growing_bump(0, Flattening::automatic);
    EXPECT_FALSE(clean.flattened);
    const RegistrationResult shaded = with_growing_bump(40, Flattening::automatic);
    EXPECT_TRUE(shaded.flattened);
    EXPECT_LT(worst_error(shaded), 2 * worst_error(clean));
    const RegistrationResult followed = with_growing_bump(40, Flattening::off);
    EXPECT_FALSE(followed.flattened);
    EXPECT_GT(worst_error(followed), worst_error(shaded));
    for (const FrameRegistration& frame : shaded.frames)
        EXPECT_EQ(frame.left_out + frame.not_averaged, "") << frame.frame;
    const std::size_t at_bump = 64 * 128 + 10;
    EXPECT_GT(shaded.average.mean[at_bump], clean.average.mean[at_bump] + 10);
}

/// Frames of blobs on a dark ground, which fill the middle of the first frame.
FramesMade moving_island(ImageShape shape, std::span<const Point> moved) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> of_unit(0, 1);
    struct Blob {
        double x, y, height;
    };
    std::vector<Blob> blobs;
    for (Elements i = 0; i < shape.elements() / 30; ++i)
        blobs.push_back({static_cast<double>(shape.width) * (.25 + .5 * of_unit(random)),
                         static_cast<double>(shape.height) * (.25 + .5 * of_unit(random)),
                         .5 + of_unit(random)});
    FramesMade frames;
    for (const Point& by : moved) {
        frames.emplace_back(shape);
        for (Elements y = 0; y < shape.height; ++y) {
            for (Elements x = 0; x < shape.width; ++x) {
                double sum = 0;
                for (const Blob& blob : blobs) {
                    const double squared = std::pow(static_cast<double>(x) - blob.x - by.x, 2) +
                                           std::pow(static_cast<double>(y) - blob.y - by.y, 2);
                    sum += blob.height * std::exp(-squared / 8);
                }
                frames.back().row(y)[x] = static_cast<float>(sum);
            }
        }
    }
    return frames;
}

TEST(Shading, of_a_bright_part_that_moves_is_not_removed) {
    for (const ImageShape shape : {ImageShape{48, 48}, ImageShape{97, 64}, ImageShape{128, 128}}) {
        for (const double scale : {1., 2.5}) {
            const std::vector<Point> moved = {{0, 0},
                                              {1.3 * scale, -.6 * scale},
                                              {2.25 * scale, .75 * scale},
                                              {-1.5 * scale, 3.4 * scale}};
            const FramesMade frames = moving_island(shape, moved);
            const RegistrationResult result = registration_of(frames, {}, 2);
            SCOPED_TRACE(testing::Message() << shape.width << 'x' << shape.height << ", " << scale);
            EXPECT_FALSE(result.flattened);
            for (const FrameRegistration& frame : result.frames) {
                const RigidMotion found =
                    compose(frame.result.motion, inverse(result.frames.front().result.motion));
                const Point& truth = moved[static_cast<std::size_t>(frame.frame)];
                EXPECT_NEAR(found.tx, truth.x, .02);
                EXPECT_NEAR(found.ty, truth.y, .02);
            }
        }
    }
}

} // namespace
} // namespace sextant::test
