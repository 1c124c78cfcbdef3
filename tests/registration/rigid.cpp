// SPDX-License-Identifier: BSD-3-Clause
// Edge cases of registering a pair: shapes, sample types, start values, empty frames.
#include <cstdint>
#include <limits>

#include "tests/registration/trials.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::Pyramid;
using registration::RigidRegistration;
using registration::UnusableFrame;
using testing::HasSubstr;
using testing::ThrowsMessage;

Trial carbon(ImageShape shape) {
    Trial trial;
    trial.specimen = "carbon";
    trial.shape = shape;
    return trial;
}

TEST(Rigid, accepts_frames_of_any_shape) {
    for (const ImageShape shape : {ImageShape{97, 131}, {300, 100}, {64, 257}, {64, 60}}) {
        Registrar registrar(shape);
        const Outcome outcome = run(carbon(shape), registrar);
        EXPECT_LT(outcome.error, 4 * outcome.bound) << describe(outcome);
        EXPECT_FALSE(outcome.flagged()) << describe(outcome);
    }
}

TEST(Rigid, accepts_samples_of_any_type) {
    const Pair pair = make_pair(carbon({128, 128}));
    const auto integers = [](const kernel::FloatPlane& plane, auto sample) {
        std::vector<decltype(sample)> samples;
        for (Elements y = 0; y < plane.shape().height; ++y) {
            for (Elements x = 0; x < plane.shape().width; ++x)
                samples.push_back(static_cast<decltype(sample)>(plane.image().at(x, y)));
        }
        return samples;
    };
    const auto view = [](const auto& samples) {
        return kernel::SampleView{samples.data(), 128, {0, 0, 128, 128}, {128, 128}};
    };
    Registrar registrar({128, 128});
    const RigidMotion of_floats =
        registrar.align(pair.reference.samples(), pair.moved.samples()).motion;
    const auto r8 = integers(pair.reference, std::uint8_t{}),
               t8 = integers(pair.moved, std::uint8_t{});
    const auto t16 = integers(pair.moved, std::uint16_t{});
    EXPECT_EQ(registrar.align(view(r8), view(t8)).motion, of_floats);
    EXPECT_EQ(registrar.align(view(r8), view(t16)).motion, of_floats);
}

TEST(Rigid, does_not_depend_on_brightness) {
    const Pair pair = make_pair(carbon({128, 128}));
    kernel::FloatPlane brighter({128, 128});
    for (Elements y = 0; y < 128; ++y) {
        for (Elements x = 0; x < 128; ++x)
            brighter.row(y)[x] = 1000 + 16 * pair.moved.image().at(x, y);
    }
    Registrar registrar({128, 128});
    const RigidMotion plain =
        registrar.align(pair.reference.samples(), pair.moved.samples()).motion;
    const RigidMotion found = registrar.align(pair.reference.samples(), brighter.samples()).motion;
    EXPECT_LT(registration::rms_distance(found, plain, {128, 128}), 1e-3);
}

TEST(Rigid, gives_inverse_motions_for_swapped_frames_within_the_noise) {
    const Pair pair = make_pair(carbon({192, 192}));
    Registrar registrar({192, 192});
    const RigidMotion there =
        registrar.align(pair.reference.samples(), pair.moved.samples()).motion;
    const RigidMotion back = registrar.align(pair.moved.samples(), pair.reference.samples()).motion;
    EXPECT_LT(registration::rms_distance(compose(there, back), {}, {192, 192}), pair.bound);
}

TEST(Rigid, from_a_given_initial_motion_agrees_with_the_full_search_in_fewer_steps) {
    const Trial trial = carbon({256, 256});
    Registrar registrar(trial.shape);
    const Outcome cold = run(trial, registrar);
    const RigidMotion near = compose(cold.truth, {.2 * degree, .8, -.6});
    const RigidResult warm =
        registrar.registration.refine(registrar.reference, registrar.moved, near);
    EXPECT_LT(registration::rms_distance(warm.motion, cold.result.motion, trial.shape), .005);
    EXPECT_LT(warm.iterations, cold.result.iterations);
    EXPECT_FALSE(warm.lead.has_value());
}

TEST(Rigid, located_on_coarse_levels_is_close_to_the_exact_motion) {
    for (const ImageShape shape : {ImageShape{256, 256}, {192, 300}, {24, 24}}) {
        const Pair pair = make_pair(carbon(shape));
        Pyramid reference(shape), moved(shape);
        reference.fill(pair.reference.samples());
        moved.fill(pair.moved.samples());
        RigidRegistration registration(shape);
        const registration::RigidResult exact = registration.align(reference, moved),
                                        near = registration.locate(reference, moved);
        EXPECT_LT(registration::rms_distance(near.motion, exact.motion, shape), .25);
        EXPECT_NEAR(near.ncc_after, exact.ncc_after, .02);
        EXPECT_NEAR(near.overlap, exact.overlap, .02);
        EXPECT_EQ(near.lead, exact.lead);
        EXPECT_EQ(near.unrelated, exact.unrelated);
    }
}

/// On level 1, the bilinear interpolation of filtered images biases motions by some hundredths of a
/// pixel; everything else agrees with the finest level within the noise.
TEST(Rigid, on_level_1_agrees_with_the_finest_level) {
    for (const ImageShape shape : {ImageShape{256, 256}, {301, 192}}) {
        const Pair pair = make_pair(carbon(shape));
        Pyramid reference(shape), moved(shape);
        reference.fill(pair.reference.samples());
        moved.fill(pair.moved.samples());
        RigidRegistration finest(shape), coarser(shape, 0, {}, nullptr, 1);
        const RigidResult exact = finest.align(reference, moved),
                          near = coarser.align(reference, moved),
                          refined = coarser.refine(reference, moved, exact.motion);
        EXPECT_LT(registration::rms_distance(near.motion, exact.motion, shape), .1);
        EXPECT_LT(registration::rms_distance(refined.motion, near.motion, shape), .01);
        EXPECT_NEAR(near.uncertainty.tx / exact.uncertainty.tx, 1, .4);
        EXPECT_NEAR(near.uncertainty.alpha / exact.uncertainty.alpha, 1, .4);
        EXPECT_NEAR(near.overlap, exact.overlap, .02);
        EXPECT_EQ(near.lead, exact.lead);
        EXPECT_FALSE(near.unrelated);
    }
    RigidRegistration single({24, 24}, 1, {}, nullptr, 1); // no other level
    Pyramid one({24, 24}, 1);
    const Pair pair = make_pair(carbon({24, 24}));
    one.fill(pair.reference.samples());
    EXPECT_LT(registration::rms_distance(single.align(one, one).motion, {}, {24, 24}), .01);
}

TEST(Rigid, reports_the_correlation_and_overlap_of_frames) {
    Trial trial = carbon({256, 256});
    trial.motion = {0, 64, 0};
    trial.dose = 1000;
    Registrar registrar(trial.shape);
    const Outcome outcome = run(trial, registrar);
    EXPECT_LT(std::abs(outcome.result.ncc_before), .5);
    EXPECT_GT(outcome.result.ncc_after, .98);
    EXPECT_NEAR(outcome.result.overlap, .75, .01);
}

TEST(Rigid, frames_without_common_content_are_reported_as_unrelated) {
    registration::SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 3;
    plan.blanks = {1, 2};
    registration::SpecimenPlan of_specimen;
    of_specimen.field = plan.shape;
    const registration::SyntheticSeries series(
        plan, registration::find_specimen("carbon").make(of_specimen));
    Registrar registrar(plan.shape);
    const kernel::FloatPlane frame = series.counted(0), blank = series.counted(1);
    EXPECT_TRUE(registrar.align(frame.samples(), blank.samples()).unrelated);
    EXPECT_TRUE(registrar.align(blank.samples(), series.counted(2).samples()).unrelated);
    EXPECT_FALSE(registrar.align(frame.samples(), frame.samples()).unrelated);
}

TEST(Rigid, frames_that_cannot_be_registered_are_refused_with_the_reason) {
    const ImageShape shape{64, 40};
    Pyramid pyramid(shape);
    kernel::FloatPlane plane(shape);
    const auto fill = [&] { pyramid.fill(plane.samples()); };
    EXPECT_THAT(fill, ThrowsMessage<UnusableFrame>(HasSubstr("every sample is 0")));
    for (Elements y = 0; y < shape.height; ++y)
        std::fill_n(plane.row(y), shape.width, 1234.5F);
    EXPECT_THAT(fill, ThrowsMessage<UnusableFrame>(HasSubstr("every sample is 1234.5")));
    plane.row(7)[3] = std::numeric_limits<float>::quiet_NaN();
    plane.row(9)[60] = std::numeric_limits<float>::infinity();
    EXPECT_THAT(fill, ThrowsMessage<UnusableFrame>(HasSubstr("every sample is 1234.5")));
    for (Elements y = 0; y < shape.height; ++y)
        std::fill_n(plane.row(y), shape.width, std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(fill,
                ThrowsMessage<UnusableFrame>(HasSubstr("none of the 2560 samples is a finite")));
    for (Elements y = 0; y < shape.height; ++y)
        std::fill_n(plane.row(y), shape.width, std::numeric_limits<float>::max());
    EXPECT_THAT(fill, ThrowsMessage<UnusableFrame>(HasSubstr("too large to be summed")));
}

TEST(Rigid, frames_of_different_shapes_are_refused) {
    Pyramid pyramid({64, 40});
    const kernel::FloatPlane plane({64, 41});
    EXPECT_THAT([&] { pyramid.fill(plane.samples()); },
                ThrowsMessage<InvalidTask>(HasSubstr("64x41 pixels, expected 64x40")));
    RigidRegistration registration({64, 41});
    EXPECT_THAT([&] { registration.align(pyramid, pyramid); },
                ThrowsMessage<InvalidTask>(HasSubstr("64x40 pixels on 2 levels, expected 64x41")));
    EXPECT_THAT(
        [] {
            Pyramid small({15, 400});
        },
        ThrowsMessage<InvalidTask>(HasSubstr("at least 16x16")));
}

TEST(Pyramid, has_more_levels_for_larger_frames) {
    EXPECT_EQ(registration::default_levels({16, 16}), 1);
    EXPECT_EQ(registration::default_levels({256, 256}), 3);
    EXPECT_EQ(registration::default_levels({1024, 1024}), 3);
    EXPECT_EQ(registration::default_levels({1920, 1856}), 4);
    EXPECT_EQ(registration::default_levels({4096, 40}), 2);
}

} // namespace
} // namespace sextant::test
