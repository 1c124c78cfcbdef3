// SPDX-License-Identifier: BSD-3-Clause
// The reference implementation of registration: its derivatives compared with differences of the
// energy, known motions, and invalid input.
#include "sextant/core/error.hpp"
#include "sextant/registration/pair/nonrigid.hpp"

#include "papers/thesis_registration.hpp"
#include "tests/registration/specimens.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using papers::BilinearElements;
using papers::CrossCorrelation;
using papers::Functional;
using papers::Nodal;
using papers::Parameters;
using papers::ThesisOptions;
using testing::HasSubstr;

Nodal values_of(const WarpedFrame& frame) {
    return {frame.samples.begin(), frame.samples.end()};
}

/// Two images on a non-square grid that differ by a small motion.
CrossCorrelation some_images() {
    const ImageShape shape{37, 24};
    const WarpedPair pair =
        exposed_pair(Specimen::amorphous(5), shape, rigid({.02, .63, -.41}, shape), 0, 1);
    return {BilinearElements(shape, 1. / 37), values_of(pair.reference), values_of(pair.templ)};
}

/// Compares the derivative along random directions with central differences. Differences may be
/// wrong at the kinks of bilinear images, so the test uses the median of the relative errors.
void expect_derivatives_as_differences(const Functional& functional, const Parameters& at,
                                       double size, double kinks = 1e-5) {
    Random random(11);
    const Parameters derivative = functional.derivative(at);
    std::vector<double> errors;
    for (int trial = 0; trial < 21; ++trial) {
        Parameters ahead = at, behind = at;
        double expected = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            const double direction = size * (uniform(random) - .5);
            ahead[i] += direction;
            behind[i] -= direction;
            expected += 2 * derivative[i] * direction;
        }
        const double seen = functional.energy(ahead) - functional.energy(behind);
        errors.push_back(std::abs(seen - expected) / std::abs(expected));
    }
    std::nth_element(errors.begin(), errors.begin() + 10, errors.end());
    EXPECT_LT(errors[10], kinks);
}

TEST(ThesisEnergy, has_the_right_derivative_for_rigid_motions) {
    const CrossCorrelation images = some_images();
    const Functional energy = rigid_energy(images, {18. / 37, 11.5 / 37});
    expect_derivatives_as_differences(energy, {.03, .021, -.013}, 1e-7);
}

TEST(ThesisEnergy, has_the_right_derivative_for_displacement_fields) {
    const CrossCorrelation images = some_images();
    for (const double lambda : {0., .02, 200.}) {
        Random random(3);
        Parameters u(2 * images.elements().count());
        for (double& component : u)
            component = .02 * (uniform(random) - .5);
        expect_derivatives_as_differences(nonrigid_energy(images, lambda), u, 1e-7);
    }
}

TEST(ThesisEnergy, is_minus_1_for_equal_and_1_for_inverted_images) {
    const ImageShape shape{20, 31};
    Nodal values = values_of(frame_of(shape, Specimen::amorphous(2)));
    const BilinearElements elements(shape, .1);
    const CrossCorrelation same(elements, values, values);
    EXPECT_NEAR(rigid_energy(same, {1, 1.5}).energy({0, 0, 0}), -1, 1e-12);
    Nodal inverted = values;
    for (double& value : inverted)
        value = 7 - 3 * value;
    const CrossCorrelation opposite(elements, values, inverted);
    EXPECT_NEAR(rigid_energy(opposite, {1, 1.5}).energy({0, 0, 0}), 1, 1e-12);
}

TEST(ThesisRigid, finds_the_motion_of_noiseless_frames_of_any_aspect_ratio) {
    for (const ImageShape shape : {ImageShape{96, 96}, {131, 70}, {64, 101}}) {
        const RigidMotion truth{.01, 1.3, -2.2};
        const WarpedPair pair =
            exposed_pair(Specimen::amorphous(7, 60, 9, 40), shape, rigid(truth, shape), 0, 1);
        ThesisOptions options;
        options.sigma = 2;
        options.stop = 1e-9;
        const auto found = papers::GradientFlowRegistration(options).rigid(pair.reference.view(),
                                                                           pair.templ.view());
        EXPECT_LT(rms_distance(found.motion, truth, shape), .05)
            << shape.width << "x" << shape.height;
        for (const auto& energies : found.energies) {
            for (std::size_t i = 1; i < energies.size(); ++i)
                ASSERT_LE(energies[i], energies[i - 1]);
        }
    }
}

TEST(ThesisRigid, starts_from_the_given_motion) {
    const ImageShape shape{96, 80};
    const RigidMotion truth{-.02, 14.3, 9.2};
    const WarpedPair pair =
        exposed_pair(Specimen::amorphous(7, 60, 9, 40), shape, rigid(truth, shape), 0, 1);
    ThesisOptions options;
    options.sigma = 2;
    options.coarsest = 0;
    const auto found = papers::GradientFlowRegistration(options).rigid(
        pair.reference.view(), pair.templ.view(), {-.018, 13.5, 9.9});
    EXPECT_LT(rms_distance(found.motion, truth, shape), .15);
}

TEST(ThesisNonrigid, finds_a_warp_with_monotonically_falling_energy) {
    const ImageShape shape{128, 112};
    const Motion truth = warp(shape, 150, 1.2, {0, .8, -.5});
    const WarpedPair pair = exposed_pair(Specimen::amorphous(9, 60, 9, 40), shape, truth, 0, 1);
    ThesisOptions options;
    options.sigma = 1;
    options.lambda = 2;
    const auto nothing = registration::no_displacement(shape, 1);
    const auto found = papers::GradientFlowRegistration(options).nonrigid(
        pair.reference.view(), pair.templ.view(), nothing);
    EXPECT_GT(rms_distance(nothing, dense(truth, shape), .8), 1);
    EXPECT_LT(rms_distance(found.field, dense(truth, shape), .8), .12);
    EXPECT_EQ(found.energies.size(), 3U);
    for (const auto& energies : found.energies) {
        for (std::size_t i = 1; i < energies.size(); ++i)
            ASSERT_LE(energies[i], energies[i - 1]);
    }
}

TEST(ThesisNonrigid, returns_its_field_on_the_grid_of_the_finest_level) {
    const ImageShape shape{33, 40};
    const WarpedPair pair = exposed_pair(Specimen::amorphous(9), shape, rigid({}, shape), 0, 1);
    ThesisOptions options;
    options.coarsest = options.finest = 1;
    options.iterations = 3;
    const auto found = papers::GradientFlowRegistration(options).nonrigid(
        pair.reference.view(), pair.templ.view(), registration::no_displacement(shape, 8));
    EXPECT_EQ(found.field.spacing, 2);
    EXPECT_EQ(found.field.nodes, (ImageShape{17, 20}));
}

TEST(ThesisNonrigid, agrees_with_the_fast_registration_within_the_noise) {
    const ImageShape shape{128, 128};
    const Motion truth = warp(shape, 250, 1.2, {0, .4, -.3});
    const WarpedPair pair = exposed_pair(Specimen::amorphous(9, 60, 9, 30), shape, truth, 40, 1);
    const RigidMotion start{0, .4, -.3};
    registration::NonrigidRegistration registration(shape);
    const auto& fast = registration.run(pair.reference.view(), pair.templ.view(), start);
    ThesisOptions options;
    options.sigma = 2;
    options.lambda = 20;
    const auto thesis = papers::GradientFlowRegistration(options).nonrigid(
        pair.reference.view(), pair.templ.view(), registration::as_field(start, shape, 8));
    const DisplacementField exact = dense(truth, shape);
    const double error_of_thesis = rms_distance(thesis.field, exact, .8);
    const double error = rms_distance(fast.field, exact, .8);
    EXPECT_LT(error_of_thesis, .4);
    EXPECT_LT(error, error_of_thesis) << "the default is the more accurate one";
    EXPECT_LT(rms_distance(fast.field, thesis.field, .8), error + error_of_thesis);
}

/// The text of the exception that thesis mode throws for two frames.
std::string complaint(const WarpedFrame& reference, const WarpedFrame& templ,
                      const ThesisOptions& options) {
    try {
        papers::GradientFlowRegistration(options).rigid(reference.view(), templ.view());
    } catch (const InvalidTask& error) {
        return error.what();
    }
    return "";
}

TEST(ThesisRigid, reports_why_a_frame_is_unusable) {
    const ImageShape shape{20, 16};
    const WarpedFrame good = frame_of(shape, Specimen::amorphous(1));
    const WarpedFrame constant = frame_of(shape, [](Point) { return 4.; });
    WarpedFrame odd = good;
    odd.samples[3 * 20 + 7] = std::nanf("");
    EXPECT_THAT(complaint(good, odd, {}), HasSubstr("the template has nan at (7, 3)"));
    EXPECT_THAT(complaint(constant, good, {}), HasSubstr("the reference is constant"));
    EXPECT_THAT(complaint(good, frame_of({20, 15}, Specimen::amorphous(1)), {}),
                HasSubstr("the template is 20x15, expected 20x16 like the reference"));
    const WarpedFrame tiny = frame_of({20, 7}, Specimen::amorphous(1));
    EXPECT_THAT(complaint(tiny, tiny, {}), HasSubstr("at least 8x8"));
    ThesisOptions upside_down;
    upside_down.finest = 3;
    EXPECT_THAT(complaint(good, good, upside_down), HasSubstr("from 2 to 3 halvings"));
    EXPECT_EQ(complaint(good, constant, {}), "")
        << "a constant template correlates with nothing and is not moved";
}

} // namespace
} // namespace sextant::test
