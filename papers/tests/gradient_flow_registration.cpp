// SPDX-License-Identifier: BSD-3-Clause
// The operator of a series' scan by the published registration.
#include "sextant/registration/synthetic.hpp"

#include <vector>

#include "papers/thesis_registration.hpp"
#include <gtest/gtest.h>

namespace sextant::papers {
namespace {

using registration::RigidMotion;

registration::SyntheticSeries series_of(double dose) {
    registration::SeriesPlan plan;
    plan.shape = {96, 80};
    plan.frames = 3;
    plan.dose = dose;
    plan.drift = {.01, 5, -4};
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    return {plan, registration::find_specimen("carbon").make(specimen)};
}

TEST(GradientFlowRegistration, joins_motions_of_neighbours_to_the_motion_of_the_outer_frames) {
    const registration::SyntheticSeries series = series_of(1000);
    const GradientFlowRegistration registration({.sigma = 2});
    std::vector<kernel::FloatPlane> frames;
    for (int i = 0; i < 3; ++i)
        frames.push_back(series.counted(i));
    const RigidMotion first = registration.rigid(frames[0].samples(), frames[1].samples()).motion;
    const RigidMotion second = registration.rigid(frames[1].samples(), frames[2].samples()).motion;
    const ThesisMotion joined =
        registration.joined(frames[0].samples(), frames[2].samples(), first, second);
    const ImageShape shape = series.plan().shape;
    const RigidMotion truth = series.between(0, 2);
    EXPECT_GT(rms_distance({}, truth, shape), 12) << "the outer frames are far apart";
    EXPECT_LT(rms_distance(joined.motion, truth, shape), .2);
    // The registration starts at the composition with the first motion inside. The other order is
    // farther away, because rotations do not commute with translations.
    const RigidMotion start = compose(second, first);
    EXPECT_EQ(joined.motion,
              registration.rigid(frames[0].samples(), frames[2].samples(), start).motion);
    EXPECT_LT(rms_distance(start, truth, shape),
              rms_distance(compose(first, second), truth, shape));
}

TEST(GradientFlowRegistration, has_its_least_energy_at_the_motion_that_it_finds) {
    const registration::SyntheticSeries series = series_of(20);
    const GradientFlowRegistration registration({.sigma = 1.5, .stop = 1e-10});
    const kernel::FloatPlane reference = series.counted(0), moved = series.counted(1);
    const ThesisMotion found = registration.rigid(reference.samples(), moved.samples());
    const RigidMotion& at = found.motion;
    const std::vector<RigidMotion> motions = {at,
                                              {at.alpha, at.tx + .3, at.ty},
                                              {at.alpha, at.tx - .3, at.ty},
                                              {at.alpha, at.tx, at.ty + .3},
                                              {at.alpha, at.tx, at.ty - .3},
                                              {at.alpha + .01, at.tx, at.ty},
                                              {at.alpha - .01, at.tx, at.ty},
                                              {}};
    const std::vector<double> energies =
        registration.energies(reference.samples(), moved.samples(), motions);
    ASSERT_EQ(energies.size(), motions.size());
    EXPECT_DOUBLE_EQ(energies[0], found.energies.back().back());
    for (std::size_t i = 1; i < energies.size(); ++i) {
        EXPECT_GT(energies[i], energies[0]) << i;
        EXPECT_GE(energies[i], -1);
        EXPECT_LE(energies[i], 1);
    }
}

} // namespace
} // namespace sextant::papers
