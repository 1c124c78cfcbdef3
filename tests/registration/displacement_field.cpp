// SPDX-License-Identifier: BSD-3-Clause
// Properties of displacement fields: rigid motions as fields, the inverse, and known regions.
#include "sextant/core/error.hpp"
#include "sextant/registration/pair/motion.hpp"

#include "tests/registration/specimens.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

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
    try {
        for (double y = 0; y < 45; ++y) {
            for (double x = 0; x < 61; ++x)
                apply_inverse(folding, {x, y});
        }
        FAIL() << "a field that folds was inverted";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), HasSubstr("folds near ("));
    }
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
