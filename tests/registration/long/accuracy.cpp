// SPDX-License-Identifier: BSD-3-Clause
// Accuracy of rigid motions over doses and sizes; prints a table.
#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

struct Goal {
    const char* specimen;
    /// Largest accepted ratios to the bound: of the RMS of all errors, and of the largest error.
    double ratio, worst;
};

/// Particles have a higher limit: only their edges carry information about their position, and the
/// filter blurs the edges.
constexpr Goal goals[] = {{"lattice", 1.3, 3}, {"carbon", 1.5, 3}, {"particles", 1.6, 3}};

TEST(LongRigidAccuracy, is_close_to_the_cramer_rao_bound_at_every_dose_and_size) {
    fmt::print("{:<10} {:>5} {:>5} {:>8} {:>8} {:>7} {:>7} {:>6}   seeds 1 to 20\n", "specimen",
               "side", "dose", "RMS, px", "bound", "ratio", "worst", "rms z");
    for (const Goal& goal : goals) {
        for (const Elements side : {256, 512}) {
            for (const double dose : {5., 10., 20.}) {
                Trial trial;
                trial.specimen = goal.specimen;
                trial.shape = {side, side};
                trial.dose = dose;
                const std::vector<Outcome> outcomes = run_seeds(trial, 20);
                const Accuracy reached = accuracy(outcomes);
                double squares = 0;
                for (const Outcome& outcome : outcomes)
                    squares += outcome.error * outcome.error / 20;
                fmt::print("{:<10} {:>5} {:>5} {:>8.4f} {:>8.4f} {:>7.2f} {:>7.2f} {:>6.2f}\n",
                           goal.specimen, side, dose, std::sqrt(squares),
                           std::sqrt(squares) / reached.ratio, reached.ratio, reached.worst,
                           rms_z(outcomes));
                EXPECT_LE(reached.ratio, goal.ratio) << goal.specimen << side << " at " << dose;
                EXPECT_LE(reached.worst, goal.worst) << goal.specimen << side << " at " << dose;
                EXPECT_GE(rms_z(outcomes), .8) << goal.specimen << side << " at " << dose;
                EXPECT_LE(rms_z(outcomes), 1.3) << goal.specimen << side << " at " << dose;
            }
        }
    }
}

TEST(LongRigidAccuracy, is_close_to_the_cramer_rao_bound_at_1024_pixels) {
    for (const char* specimen : {"lattice", "carbon"}) {
        Trial trial;
        trial.specimen = specimen;
        trial.shape = {1024, 1024};
        const Accuracy reached = accuracy(run_seeds(trial, 20));
        fmt::print("{:<10} {:>5} {:>5} {:>25.2f} {:>7.2f}\n", specimen, 1024, 10, reached.ratio,
                   reached.worst);
        EXPECT_LE(reached.ratio, 1.5) << specimen;
        EXPECT_LE(reached.worst, 3) << specimen;
    }
}

TEST(LongRigidAccuracy, does_not_depend_on_the_size_of_the_motion_of_large_frames) {
    for (const Goal& goal : goals) {
        Trial trial;
        trial.specimen = goal.specimen;
        trial.shape = {512, 512};
        for (const Outcome& outcome : run_motions(trial, 30))
            EXPECT_FALSE(outcome.hopped() || outcome.flagged()) << describe(outcome);
    }
}

TEST(LongRigidAccuracy, flags_every_period_jump) {
    for (const Elements side : {256, 512}) {
        for (const double amorphous : {0., .03, .07, .1, .15, .2, .3}) {
            Trial trial;
            trial.shape = {side, side};
            trial.amorphous = amorphous;
            int hops = 0, flags = 0;
            for (const Outcome& outcome : run_motions(trial, 30)) {
                hops += outcome.hopped();
                flags += outcome.flagged();
                EXPECT_TRUE(!outcome.hopped() || outcome.flagged()) << describe(outcome);
            }
            fmt::print("lattice, {} pixels, {:>3.0f} % amorphous: {} hops, {} flags of 30\n", side,
                       100 * amorphous, hops, flags);
        }
    }
}

} // namespace
} // namespace sextant::test
