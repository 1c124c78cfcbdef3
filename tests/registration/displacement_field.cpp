// SPDX-License-Identifier: BSD-3-Clause
// The laws of fields: composition, inverse, what is known of them, and images seen through them.
#include "sextant/core/error.hpp"
#include "sextant/registration/motion.hpp"

#include "tests/registration/specimens.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::as_field;
using registration::no_displacement;
using testing::HasSubstr;

const ImageShape shape{61, 45};

/// A smooth field whose nodes lie `spacing` apart.
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

TEST(DisplacementField, reaches_every_pixel_with_its_nodes) {
    for (const Elements spacing : {1, 2, 7, 8, 60, 61, 100}) {
        const DisplacementField field = no_displacement(shape, spacing);
        EXPECT_GE((field.nodes.width - 1) * spacing, shape.width - 1);
        EXPECT_LT((field.nodes.width - 2) * spacing, shape.width - 1);
        EXPECT_GE((field.nodes.height - 1) * spacing, shape.height - 1);
    }
    EXPECT_THROW(no_displacement(shape, 0), InvalidTask);
    EXPECT_THROW(no_displacement({0, 5}, 1), InvalidTask);
}

TEST(DisplacementField, of_a_rigid_motion_is_that_motion_everywhere) {
    const RigidMotion motion{.1, 3.2, -1.1};
    const DisplacementField field = as_field(motion, shape, 8);
    for (const Point at : {Point{0, 0}, {13.3, 7.9}, {60, 44}, {31, 0}}) {
        const Point expected = apply(motion, at, registration::centre(shape));
        const Point found = apply(field, at);
        EXPECT_NEAR(found.x, expected.x, 1e-5);
        EXPECT_NEAR(found.y, expected.y, 1e-5);
    }
}

TEST(DisplacementField, composes_as_functions_do) {
    const DisplacementField first = smooth(8, .3), second = smooth(5, 1.9);
    const DisplacementField both = compose(first, second);
    EXPECT_EQ(both.nodes, second.nodes);
    for (std::size_t i = 0; i < both.count(); ++i) {
        const auto width = static_cast<std::size_t>(both.nodes.width);
        const Point node{5. * static_cast<double>(i % width), 5. * static_cast<double>(i / width)};
        const Point expected = apply(first, apply(second, node)), found = apply(both, node);
        ASSERT_NEAR(found.x, expected.x, 1e-5);
        ASSERT_NEAR(found.y, expected.y, 1e-5);
    }
}

TEST(DisplacementField, composes_rigid_motions_as_motions_do) {
    const RigidMotion a{.01, 2, -1}, b{-.02, .5, 1.5};
    const auto both = compose(as_field(a, shape, 4), as_field(b, shape, 4));
    // Beyond the nodes a field goes on unturned: away from the border the two agree.
    EXPECT_LT(rms_distance(both, as_field(compose(a, b), shape, 4), .8), 1e-5);
}

TEST(DisplacementField, composition_is_associative_up_to_the_spacing_of_nodes) {
    const DisplacementField a = smooth(1, .3, .8), b = smooth(1, 1.9, .8), c = smooth(1, 4, .8);
    EXPECT_LT(rms_distance(compose(compose(a, b), c), compose(a, compose(b, c)), .8), 3e-3);
}

TEST(DisplacementField, with_its_inverse_is_the_identity) {
    const DisplacementField field = smooth(1, .7);
    const auto nothing = no_displacement(shape, 1);
    EXPECT_GT(rms_distance(field, nothing), 1);
    EXPECT_LT(rms_distance(compose(field, inverse(field)), nothing), 1e-4);
    EXPECT_LT(rms_distance(compose(inverse(field), field), nothing, .8), 5e-3);
}

TEST(DisplacementField, that_folds_is_not_inverted) {
    const DisplacementField folding = smooth(1, .7, 30);
    try {
        inverse(folding);
        FAIL() << "a field that folds was inverted";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), HasSubstr("folds near ("));
    }
}

TEST(DisplacementField, takes_along_what_is_known_and_how_well) {
    DisplacementField first = no_displacement(shape, 5), second = no_displacement(shape, 5);
    first.sigma.assign(first.count(), .3f);
    second.sigma.assign(second.count(), .4f);
    first.known.assign(first.count(), 1);
    second.known.assign(second.count(), 1);
    first.known[30] = second.known[17] = 0;
    const auto both = compose(first, second);
    for (std::size_t i = 0; i < both.count(); ++i) {
        EXPECT_NEAR(both.sigma[i], .5, 1e-6);
        EXPECT_EQ(both.known[i], i != 30 && i != 17);
    }
    const auto back = inverse(first);
    EXPECT_NEAR(back.sigma[5], .3, 1e-6);
    EXPECT_EQ(back.known[30], 0);
    EXPECT_EQ(compose(first, no_displacement(shape, 5)).known, first.known);
    EXPECT_EQ(compose(no_displacement(shape, 5), second).sigma, second.sigma);
}

TEST(DisplacementField, is_compared_only_where_both_fields_are_known) {
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

TEST(DisplacementField, shows_an_image_through_it_and_nothing_beyond_its_border) {
    const WarpedFrame ramp = frame_of(shape, [](Point at) { return 2 * at.x - at.y; });
    DisplacementField shift = no_displacement(shape, 8);
    shift.x.assign(shift.count(), 1.5f);
    shift.y.assign(shift.count(), -2.25f);
    std::vector<float> seen(ramp.samples.size());
    resample(shift, ramp.view(), seen);
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
            const float value = seen[static_cast<std::size_t>(y * shape.width + x)];
            if (static_cast<double>(x) + 1.5 > 60 || static_cast<double>(y) - 2.25 < 0)
                ASSERT_TRUE(std::isnan(value)) << x << ", " << y;
            else
                ASSERT_NEAR(value,
                            2 * (static_cast<double>(x) + 1.5) - static_cast<double>(y) + 2.25,
                            1e-4);
        }
    }
    EXPECT_THROW(resample(shift, ramp.view(), std::span(seen).first(10)), InvalidTask);
    EXPECT_THROW(compose(shift, no_displacement({5, 5}, 1)), InvalidTask);
}

} // namespace
} // namespace sextant::test
