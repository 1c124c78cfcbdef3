// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(SmallFrames, are_registered) {
    for (const ImageShape shape : {ImageShape{40, 30}, ImageShape{24, 24}}) {
        SeriesPlan plan;
        plan.shape = shape;
        plan.frames = 20;
        plan.dose = 100;
        plan.drift = {0, -.3, .2};
        plan.wander = .2;
        const SyntheticSeries series(plan, specimen_of(plan));
        const FramesMade frames = counted_frames(series);
        for (const FrameRegistration& frame : registration_of(frames).frames) {
            EXPECT_EQ(frame.left_out, "") << frame.frame;
            EXPECT_LT(registration::rms_distance(frame.result.motion,
                                                 series.motion(static_cast<int>(frame.frame)),
                                                 shape, central),
                      .4)
                << frame.frame;
        }
    }
}

TEST(SmallFrames, have_about_the_errors_that_are_stated) {
    for (const Elements side : {16, 24}) {
        SeriesPlan plan;
        plan.shape = {side, side};
        plan.frames = 100;
        plan.dose = 1000;
        plan.wander = .2;
        const SyntheticSeries series(plan, specimen_of(plan));
        const RegistrationResult result = registration_of(counted_frames(series));
        double x = 0, squares = 0, variances = 0;
        for (const FrameRegistration& frame : result.frames) {
            const double error =
                frame.result.motion.tx - series.motion(static_cast<int>(frame.frame)).tx;
            x += error;
            squares += error * error;
            variances += frame.result.uncertainty.covariance[4];
        }
        const double left = squares - x * x / plan.frames;
        EXPECT_GT(left, .5 * variances) << side;
        EXPECT_LT(left, 1.5 * variances) << side;
    }
}

TEST(SmallFrames, that_show_only_noise_are_refused) {
    for (const ImageShape shape : {ImageShape{40, 30}, ImageShape{24, 24}, ImageShape{16, 16}}) {
        SeriesPlan plan;
        plan.shape = shape;
        plan.frames = 20;
        const SyntheticSeries series(plan, [](Point) { return 1.; });
        EXPECT_THROW(registration_of(counted_frames(series)), AgreedFailure);
    }
}

} // namespace
} // namespace sextant::test
