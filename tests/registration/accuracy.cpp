// SPDX-License-Identifier: BSD-3-Clause
// Accuracy of rigid motions, compared with the Cramér-Rao bound over many seeds.
#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

struct Goal {
    const char* specimen;
    double ratio; ///< largest accepted ratio of the RMS error to the bound
};

/// Particles have a higher limit: only their edges carry information about their position, and the
/// filter blurs the edges.
constexpr Goal goals[] = {{"lattice", 1.3}, {"carbon", 1.5}, {"particles", 1.7}};

TEST(RigidAccuracy, is_close_to_the_cramer_rao_bound_and_to_its_own_prediction) {
    std::vector<Outcome> all;
    for (const Goal& goal : goals) {
        Trial trial;
        trial.specimen = goal.specimen;
        const std::vector<Outcome> outcomes = run_seeds(trial, 20);
        const Accuracy reached = accuracy(outcomes);
        EXPECT_LE(reached.ratio, goal.ratio) << goal.specimen;
        EXPECT_GE(reached.ratio, .7) << goal.specimen << ": no method beats the bound";
        EXPECT_LE(reached.worst, 3) << goal.specimen;
        all.insert(all.end(), outcomes.begin(), outcomes.end());
    }
    EXPECT_GE(rms_z(all), .8);
    EXPECT_LE(rms_z(all), 1.3);
}

TEST(RigidAccuracy, does_not_depend_on_the_size_of_the_motion) {
    for (const Goal& goal : goals) {
        Trial trial;
        trial.specimen = goal.specimen;
        for (const Outcome& outcome : run_motions(trial, 30))
            EXPECT_FALSE(outcome.hopped() || outcome.flagged()) << describe(outcome);
    }
}

TEST(RigidAccuracy, flags_every_failure_on_nearly_perfect_lattices) {
    int hops = 0;
    for (const double amorphous : {.05, .1}) {
        Trial trial;
        trial.amorphous = amorphous;
        for (const Outcome& outcome : run_motions(trial, 15)) {
            hops += outcome.hopped();
            EXPECT_TRUE(!outcome.hopped() || outcome.flagged()) << describe(outcome);
        }
    }
    EXPECT_GT(hops, 0) << "such perfect lattices look the same after a period";
}

struct Bias {
    double x = 0, y = 0;
};

/// The mean error of a shift over several seeds.
Bias bias_at(double tx, double ty, double prefilter) {
    Trial trial;
    trial.motion = {0, tx, ty};
    trial.dose = 5;
    trial.specimen = "carbon";
    trial.shape = {160, 160};
    Registrar registrar(trial.shape, prefilter);
    Bias sum;
    constexpr int seeds = 24;
    for (int seed = 1; seed <= seeds; ++seed) {
        trial.seed = static_cast<std::uint64_t>(seed);
        const Outcome outcome = run(trial, registrar);
        sum.x += (outcome.result.motion.tx - outcome.truth.tx) / seeds;
        sum.y += (outcome.result.motion.ty - outcome.truth.ty) / seeds;
    }
    return sum;
}

TEST(RigidAccuracy, is_not_biased_towards_half_pixels) {
    // Methods that maximise the similarity of interpolated samples have errors of .1 to .5 pixels.
    for (const double shift : {0., .25, .5, .75}) {
        const Bias bias = bias_at(shift, -shift, registration::usual_prefilter);
        EXPECT_LT(std::hypot(bias.x, bias.y), .03) << shift;
    }
}

} // namespace
} // namespace sextant::test
