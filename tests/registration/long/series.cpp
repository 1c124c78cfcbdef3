// SPDX-License-Identifier: BSD-3-Clause
// Series of near-perfect lattices: every wrong motion is flagged.
#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

struct Lattices {
    int right = 0, wrong = 0, unflagged = 0;
};

/// Counts the frames whose motion is correct, is wrong, and is wrong but not flagged.
Lattices registered_lattice(double amorphous, std::uint64_t seed) {
    SeriesPlan plan;
    plan.shape = {192, 192};
    plan.frames = 10;
    plan.drift = {0, -5, .7};
    plan.wander = 6;
    plan.seed = seed;
    const SyntheticSeries series(plan, specimen_of(plan, "lattice", seed, 0, amorphous));
    const FramesMade frames = counted_frames(series);
    Lattices counted;
    for (const FrameRegistration& place : places_of(frames, 1)) {
        const double error = rms_distance(
            place.result.motion, series.between(0, static_cast<int>(place.frame)), plan.shape);
        const bool wrong = place.left_out.empty() && error > 2;
        const bool flagged = place.result.ambiguous || place.result.unrelated || place.in_doubt;
        counted.right += place.left_out.empty() && !wrong;
        counted.wrong += wrong;
        counted.unflagged += wrong && !flagged;
    }
    return counted;
}

TEST(LongSeries, flags_every_wrong_frame_of_nearly_perfect_lattices) {
    int wrong = 0;
    for (const double amorphous : {0., .04, .07, .1}) {
        Lattices all;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const Lattices one = registered_lattice(amorphous, seed);
            EXPECT_EQ(one.unflagged, 0) << amorphous << ", seed " << seed;
            all.right += one.right;
            all.wrong += one.wrong;
        }
        fmt::print("{:>3.0f} % amorphous: {} frames right, {} wrong\n", 100 * amorphous, all.right,
                   all.wrong);
        wrong += all.wrong;
    }
    EXPECT_GT(wrong, 0) << "such perfect lattices look the same after a period";
}

} // namespace
} // namespace sextant::test
