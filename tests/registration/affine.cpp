// SPDX-License-Identifier: BSD-3-Clause
// Affine motions, and resampling by them.
#include "sextant/core/error.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cmath>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::AffineMotion;
using registration::Point;

constexpr AffineMotion some{1.02, -.03, .05, .97, 3, -2}, other{.99, .01, -.02, 1.01, -1, 4};
constexpr Point centre_of_frame{31.5, 23.5};

void expect_near(Point found, Point expected) {
    EXPECT_NEAR(found.x, expected.x, 1e-12);
    EXPECT_NEAR(found.y, expected.y, 1e-12);
}

TEST(AffineMotion, composes_and_inverts_as_its_definition_says) {
    for (const Point x : {Point{0, 0}, {12.5, 40}, {63, 47}}) {
        const Point inner = apply(other, x, centre_of_frame);
        expect_near(apply(compose(some, other), x, centre_of_frame),
                    apply(some, inner, centre_of_frame));
        expect_near(apply(inverse(some), apply(some, x, centre_of_frame), centre_of_frame), x);
    }
    EXPECT_THROW(inverse(AffineMotion{1, 2, 2, 4, 0, 0}), InvalidTask);
}

TEST(AffineMotion, agrees_with_rigid_motions) {
    const RigidMotion rigid{.1, -2.5, 4}, second{-.03, 1, 2};
    const Point x{12.5, 40};
    expect_near(apply(registration::as_affine(rigid), x, centre_of_frame),
                apply(rigid, x, centre_of_frame));
    EXPECT_NEAR(registration::nearest_rigid(registration::as_affine(rigid)).alpha, .1, 1e-15);
    const ImageShape shape{64, 48};
    EXPECT_NEAR(
        rms_distance(registration::as_affine(rigid), registration::as_affine(second), shape, .88),
        rms_distance(rigid, second, shape, .88), 1e-12);
}

TEST(AffineMotion, stretch_is_symmetric_and_leaves_the_nearest_rotation) {
    const AffineMotion stretch = stretch_of(some);
    EXPECT_NEAR(stretch.b, stretch.c, 1e-15);
    EXPECT_EQ(stretch.tx, 0);
    const AffineMotion rest = compose(some, inverse(stretch));
    EXPECT_NEAR(rest.a, rest.d, 1e-12);
    EXPECT_NEAR(rest.b, -rest.c, 1e-12);
    EXPECT_NEAR(std::hypot(rest.a, rest.c), 1, 1e-12);
    EXPECT_EQ(rest.tx, some.tx);
}

/// Frames whose samples are a linear function of the position, which bilinear interpolation shows
/// exactly.
TEST(AffineMotion, shows_frames_at_the_positions_to_which_it_maps) {
    FramesMade frames;
    frames.emplace_back(ImageShape{64, 48});
    const auto value = [](Point x) { return 100 + 2 * x.x + 3 * x.y; };
    for (int y = 0; y < 48; ++y) {
        for (int x = 0; x < 64; ++x)
            frames.front().row(y)[x] =
                static_cast<float>(value({static_cast<double>(x), static_cast<double>(y)}));
    }
    MadeSource source(frames);
    registration::Resampler resampler(source);
    std::vector<float> shown(64 * 8);
    int inside = 0;
    for (const Rows rows : {Rows{0, 8}, {20, 28}, {40, 48}}) {
        resampler.resample(0, some, {0, rows.first, {64, rows.count()}}, shown);
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const Point to = apply(some,
                                   {static_cast<double>(i % 64),
                                    static_cast<double>(rows.first) + static_cast<double>(i / 64)},
                                   centre_of_frame);
            const bool visible = to.x >= 0 && to.x <= 63 && to.y >= 0 && to.y <= 47;
            EXPECT_EQ(std::isfinite(shown[i]), visible);
            if (visible) {
                EXPECT_NEAR(static_cast<double>(shown[i]), value(to), 1e-3);
                ++inside;
            }
        }
    }
    EXPECT_GT(inside, 1200);
    const registration::Transform transform = some;
    const Point x{10, 20};
    expect_near(apply_inverse(transform, apply(transform, x, {64, 48}), {64, 48}), x);
}

} // namespace
} // namespace sextant::test
