// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/motion.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

} // namespace
} // namespace sextant::test
