// SPDX-License-Identifier: BSD-3-Clause
// The accuracy of displacement fields on frames of realistic size.
#include "tests/registration/warps.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Returns the RMS of the errors over the seeds, and prints each error.
double rms_error(WarpTrial trial, unsigned seeds) {
    double squares = 0;
    for (trial.seed = 1; trial.seed <= seeds; ++trial.seed) {
        const WarpOutcome outcome = run(trial);
        fmt::print("{} {}x{}, seed {}: {}\n", trial.specimen, trial.shape.width, trial.shape.height,
                   trial.seed, outcome.text());
        squares += outcome.error * outcome.error;
    }
    return std::sqrt(squares / seeds);
}

TEST(NonrigidAccuracy, is_a_quarter_of_a_pixel_in_frames_of_512_pixels) {
    for (const char* specimen : {"waves", "lattice of waves", "lattice", "carbon"}) {
        WarpTrial trial;
        trial.specimen = specimen;
        trial.shape = {512, 512};
        EXPECT_LT(rms_error(trial, 5), .25) << specimen;
    }
}

TEST(NonrigidAccuracy, is_0_15_pixels_in_frames_of_1024_pixels) {
    for (const char* specimen : {"waves", "lattice of waves", "lattice", "carbon"}) {
        WarpTrial trial;
        trial.specimen = specimen;
        trial.shape = {1024, 1024};
        trial.length = 600;
        EXPECT_LT(rms_error(trial, 2), .15) << specimen;
    }
}

/// Particles are blurred discs on an empty background; between them, the field is interpolated.
TEST(NonrigidAccuracy, for_particles_is_a_third_of_a_pixel_at_512_and_a_fifth_at_1024_pixels) {
    WarpTrial trial;
    trial.specimen = "particles";
    trial.shape = {512, 512};
    EXPECT_LT(rms_error(trial, 5), .33);
    trial.shape = {1024, 1024};
    trial.length = 600;
    EXPECT_LT(rms_error(trial, 2), .22);
}

TEST(NonrigidAccuracy, is_kept_for_warps_of_170_pixels) {
    for (const ImageShape shape : {ImageShape{512, 512}, {1024, 1024}}) {
        for (const char* specimen : {"waves", "lattice of waves"}) {
            WarpTrial trial;
            trial.specimen = specimen;
            trial.shape = shape;
            trial.length = 170;
            trial.amplitude = .8;
            EXPECT_LT(rms_error(trial, 2), .2) << specimen;
        }
    }
}

} // namespace
} // namespace sextant::test
