// SPDX-License-Identifier: BSD-3-Clause
// Affine motions, and resampling by them.
// Properties of displacement fields: rigid motions as fields, the inverse, and known regions.
#include "sextant/registration/pair/motion.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cmath>

#include "tests/registration/made_series.hpp"
#include "tests/registration/specimens.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::centre;
using registration::Point;
using registration::RigidMotion;
using testing::DoubleNear;

constexpr ImageShape image{31, 20};

void expect_near(Point a, Point b) {
    EXPECT_THAT(a.x, DoubleNear(b.x, 1e-12));
    EXPECT_THAT(a.y, DoubleNear(b.y, 1e-12));
}

TEST(Motion, rotates_about_the_centre_before_it_translates) {
    const Point c = centre(image);
    EXPECT_EQ(c, (Point{15, 9.5}));
    expect_near(apply(RigidMotion{std::acos(0.0), 2, -1}, {16, 9.5}, c), {17, 9.5});
}

TEST(Motion, composition_applies_the_second_argument_first) {
    const RigidMotion outer{.3, 2, -1}, inner{-.1, .5, 4};
    const Point c = centre(image), x{3, 7};
    expect_near(apply(compose(outer, inner), x, c), apply(outer, apply(inner, x, c), c));
}

TEST(Motion, an_inverse_undoes_a_motion_on_either_side) {
    const RigidMotion motion{.7, -3, 11};
    const Point c = centre(image), x{29, 1};
    expect_near(apply(compose(motion, inverse(motion)), x, c), x);
    expect_near(apply(compose(inverse(motion), motion), x, c), x);
}

TEST(Motion, the_distance_of_two_motions_is_the_rms_over_the_image) {
    const RigidMotion phi{.02, 1, 2}, psi{-.01, 1.5, 1};
    constexpr int steps = 200;
    double sum = 0;
    for (int j = 0; j < steps; ++j) {
        for (int i = 0; i < steps; ++i) {
            const Point x{(i + .5) / steps * 31 - .5, (j + .5) / steps * 20 - .5};
            const Point a = apply(phi, x, centre(image)), b = apply(psi, x, centre(image));
            sum += (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
        }
    }
    EXPECT_NEAR(rms_distance(phi, psi, image), std::sqrt(sum / steps / steps), 1e-4);
    EXPECT_LT(rms_distance(phi, psi, image, .5), rms_distance(phi, psi, image));
}

using registration::AffineMotion;

constexpr AffineMotion some{1.02, -.03, .05, .97, 3, -2}, other{.99, .01, -.02, 1.01, -1, 4};
constexpr Point centre_of_frame{31.5, 23.5};

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

using registration::as_field;
using registration::no_displacement;
using testing::HasSubstr;

const ImageShape shape{61, 45};

/// A smooth field with nodes `spacing` pixels apart.
DisplacementField smooth(Elements spacing, double phase, double amplitude = 1.5) {
    DisplacementField field = no_displacement(shape, spacing);
    for (std::size_t i = 0; i < field.count(); ++i) {
        const double x = static_cast<double>(static_cast<std::int64_t>(i) % field.nodes.width);
        const double y = static_cast<double>(static_cast<std::int64_t>(i) / field.nodes.width);
        const double k = .12 * static_cast<double>(spacing);
        field.x[i] = static_cast<float>(amplitude * std::sin(k * y + phase));
        field.y[i] = static_cast<float>(amplitude * std::cos(k * x - phase));
    }
    return field;
}

TEST(DisplacementField, has_nodes_that_cover_every_pixel) {
    for (const Elements spacing : {1, 2, 7, 8, 60, 61, 100}) {
        const DisplacementField field = no_displacement(shape, spacing);
        EXPECT_GE((field.nodes.width - 1) * spacing, shape.width - 1);
        EXPECT_LT((field.nodes.width - 2) * spacing, shape.width - 1);
        EXPECT_GE((field.nodes.height - 1) * spacing, shape.height - 1);
    }
    EXPECT_THROW(no_displacement(shape, 0), InvalidTask);
    EXPECT_THROW(no_displacement({0, 5}, 1), InvalidTask);
}

TEST(DisplacementField, of_a_rigid_motion_equals_that_motion_everywhere) {
    const RigidMotion motion{.1, 3.2, -1.1};
    const DisplacementField field = as_field(motion, shape, 8);
    for (const Point at : {Point{0, 0}, {13.3, 7.9}, {60, 44}, {31, 0}}) {
        const Point expected = apply(motion, at, registration::centre(shape));
        const Point found = apply(field, at);
        EXPECT_NEAR(found.x, expected.x, 1e-5);
        EXPECT_NEAR(found.y, expected.y, 1e-5);
    }
}

TEST(DisplacementField, composed_with_its_inverse_is_the_identity) {
    const DisplacementField field = smooth(1, .7);
    for (const Point at : {Point{0, 0}, {13.3, 7.9}, {60, 44}, {31, 0}}) {
        const Point back = apply_inverse(field, apply(field, at));
        EXPECT_NEAR(back.x, at.x, 1e-3);
        EXPECT_NEAR(back.y, at.y, 1e-3);
    }
}

TEST(DisplacementField, is_not_inverted_where_it_folds) {
    const DisplacementField folding = smooth(1, .7, 30);
    EXPECT_THAT(test::message_of<InvalidTask>([&] {
                    for (double y = 0; y < 45; ++y) {
                        for (double x = 0; x < 61; ++x)
                            apply_inverse(folding, {x, y});
                    }
                }),
                HasSubstr("folds near ("));
}

TEST(DisplacementField, is_compared_only_at_nodes_known_in_both_fields) {
    DisplacementField far = no_displacement(shape, 1);
    far.known.assign(far.count(), 1);
    for (std::size_t i = 0; i < far.count() / 2; ++i) {
        far.x[i] = 100;
        far.known[i] = 0;
    }
    EXPECT_EQ(rms_distance(far, no_displacement(shape, 1)), 0);
    far.known[0] = 1;
    EXPECT_GT(rms_distance(far, no_displacement(shape, 1)), 1);
}

} // namespace
} // namespace sextant::test
