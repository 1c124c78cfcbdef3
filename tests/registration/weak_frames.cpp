// SPDX-License-Identifier: BSD-3-Clause
// Frames with too little signal to be registered to one another, and small frames.
#include "sextant/registration/stages/weak_frames.hpp"

#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::NoisyValue;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int frames_of_series = 32;

MadeSeries weak_series(ImageShape shape, double dose, std::uint64_t seed = 1) {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = frames_of_series;
    plan.dose = dose;
    plan.drift = {0, -.3, .2};
    plan.wander = .1;
    plan.seed = seed;
    const registration::Specimen specimen = specimen_of(plan, "carbon", seed);
    const SyntheticSeries series(plan, specimen);
    return {series, counted_frames(series), 0};
}

/// Replaces frames by noise of the same mean.
void make_noise(FramesMade& frames, const std::function<bool(int frame)>& is_noise, double dose) {
    std::mt19937_64 engine(7);
    std::poisson_distribution<int> count(dose);
    for (int frame = 0; frame < std::ssize(frames); ++frame) {
        kernel::FloatPlane& plane = frames[static_cast<std::size_t>(frame)];
        for (Elements y = 0; is_noise(frame) && y < plane.shape().height; ++y)
            std::generate_n(plane.row(y), plane.shape().width,
                            [&] { return static_cast<float>(count(engine)); });
    }
}

/// Errors of the shifts of registered frames along the axes (RMS), in pixels and in units of their
/// standard deviations.
struct Errors {
    double pixels = 0, deviations = 0;
    int registered = 0;
};

Errors errors_of(const RegistrationResult& result, const SyntheticSeries& series) {
    std::vector<double> errors[2], sigmas[2];
    for (const FrameRegistration& frame : result.frames) {
        if (!frame.left_out.empty())
            continue;
        const RigidMotion truth = series.motion(static_cast<int>(frame.frame));
        errors[0].push_back(frame.result.motion.tx - truth.tx);
        errors[1].push_back(frame.result.motion.ty - truth.ty);
        sigmas[0].push_back(frame.result.uncertainty.tx);
        sigmas[1].push_back(frame.result.uncertainty.ty);
    }
    Errors all;
    all.registered = static_cast<int>(errors[0].size());
    for (const int axis : {0, 1}) {
        const double common = median(errors[axis]);
        for (std::size_t i = 0; i < errors[axis].size(); ++i) {
            const double error = errors[axis][i] - common;
            all.pixels += error * error / (2 * all.registered);
            all.deviations += error * error / std::pow(sigmas[axis][i], 2) / (2 * all.registered);
        }
    }
    return {std::sqrt(all.pixels), std::sqrt(all.deviations), all.registered};
}

TEST(WeakFrames, are_registered_to_their_average_after_sums_of_neighbours) {
    constexpr int seeds = 4;
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        const MadeSeries made = weak_series({96, 96}, .12, seed);
        const RegistrationResult result = registration_of(made.frames);
        EXPECT_GE(result.frames_per_sum, 4);
        EXPECT_GE(result.stages, 2);
        const Errors errors = errors_of(result, made.series);
        EXPECT_EQ(errors.registered, frames_of_series);
        EXPECT_LT(errors.pixels, .3);
        squares += errors.deviations * errors.deviations / seeds;
    }
    EXPECT_GT(squares, .7 * .7);
    EXPECT_LT(squares, 1.3 * 1.3);
}

TEST(WeakFrames, of_a_strong_series_do_not_occur) {
    EXPECT_EQ(registration_of(make_series(6).frames).frames_per_sum, 0);
}

TEST(WeakFrames, have_nearly_the_same_motions_on_any_number_of_ranks_and_the_same_for_any_threads) {
    const MadeSeries made = weak_series({96, 96}, .12);
    const RegistrationResult one = registration_of(made.frames);
    RegistrationOptions options;
    options.threads = 3;
    options.reproducible = true;
    const RegistrationResult many = registration_of(made.frames, options, 5);
    options.threads = 1;
    const RegistrationResult serial = registration_of(made.frames, options, 5);
    for (std::size_t i = 0; i < one.frames.size(); ++i) {
        const RigidResult &a = one.frames[i].result, &b = many.frames[i].result;
        EXPECT_LT(registration::rms_distance(a.motion, b.motion, {96, 96}), .05) << i;
        EXPECT_EQ(b.motion, serial.frames[i].result.motion) << i;
    }
}

TEST(WeakFrames, are_registered_relative_to_a_requested_reference) {
    const MadeSeries made = weak_series({96, 96}, .12);
    RegistrationOptions options;
    options.reference = 20;
    options.stages = 1;
    const RegistrationResult result = registration_of(made.frames, options);
    EXPECT_EQ(result.reference, 20);
    EXPECT_EQ(result.frames[20].result.motion, RigidMotion());
    EXPECT_LT(errors_of(result, made.series).pixels, .5);
}

TEST(WeakFrames, resume_with_the_same_bits) {
    const MadeSeries made = weak_series({96, 96}, .12);
    const TemporaryFolder folder;
    RegistrationOptions options;
    options.reproducible = true;
    const SeriesRun whole = run_series(made.frames, 2, options);
    options.checkpoint = folder.path("checkpoint");
    int averaged = 0;
    const SeriesRun cancelled =
        run_series(made.frames, 2, options, [&](int rank, registration::Work work) {
            averaged += rank == 0 && work == registration::Work::averaged;
            return averaged == 5;
        });
    ASSERT_TRUE(cancelled.cancelled);
    const SeriesRun resumed = run_series(made.frames, 2, options);
    EXPECT_GT(resumed.resumed, 0U);
    expect_same(whole, resumed);
}

TEST(WeakFrames, are_in_doubt_if_their_positions_are_hardly_determined) {
    RegistrationOptions options;
    options.tolerance = .38; // pixels
    const RegistrationResult result = registration_of(weak_series({96, 96}, .12).frames, options);
    EXPECT_GE(result.frames_per_sum, 4);
    const auto doubtful = std::ranges::count_if(result.frames, &FrameRegistration::in_doubt);
    EXPECT_GT(doubtful, 0);
    EXPECT_EQ(result.not_averaged, doubtful);
    EXPECT_THAT(result.warnings,
                testing::Contains(HasSubstr(" of 32 frames are poorly determined")));
}

TEST(WeakFrames, rotate_only_if_the_model_does) {
    RegistrationOptions options;
    options.model = MotionModel::translation;
    const RegistrationResult result = registration_of(weak_series({96, 96}, .12).frames, options);
    EXPECT_GE(result.frames_per_sum, 4);
    EXPECT_EQ(result.model, MotionModel::translation);
    for (const FrameRegistration& frame : result.frames)
        EXPECT_EQ(frame.result.motion.alpha, 0);
}

TEST(WeakFrames, that_show_only_noise_are_refused) {
    for (const ImageShape shape : {ImageShape{96, 96}, ImageShape{40, 30}, ImageShape{16, 16}}) {
        MadeSeries made = weak_series(shape, 5);
        make_noise(
            made.frames, [](int) { return true; }, 5);
        EXPECT_THAT([&] { registration_of(made.frames); },
                    ThrowsMessage<AgreedFailure>(HasSubstr(" of 32 frames could be registered")));
    }
}

TEST(WeakFrames, are_registered_without_the_frames_that_show_only_noise) {
    const std::function<bool(int)> kinds[] = {[](int frame) { return frame >= 16; },
                                              [](int frame) { return frame % 4 == 3; }};
    for (const auto& is_noise : kinds) {
        MadeSeries made = weak_series({128, 128}, .25);
        make_noise(made.frames, is_noise, .25);
        const RegistrationResult result = registration_of(made.frames);
        EXPECT_GE(result.frames_per_sum, 4);
        for (const FrameRegistration& frame : result.frames)
            EXPECT_EQ(frame.left_out.empty(), !is_noise(static_cast<int>(frame.frame)))
                << frame.frame << " " << frame.left_out;
        EXPECT_LT(errors_of(result, made.series).pixels, .4);
    }
}

TEST(LeastRegistered, is_the_smallest_fraction_of_the_usable_frames) {
    MadeSeries made = make_series(10, {8, 9}); // two blank frames are not usable
    make_noise(
        made.frames, [](int frame) { return frame >= 3 && frame < 8; }, 10);
    EXPECT_THAT([&] { registration_of(made.frames); },
                ThrowsMessage<AgreedFailure>(
                    HasSubstr("only 3 of 10 frames could be registered; 4 of the 8 usable frames "
                              "are needed (min_registered 0.5); frame 3: ")));
    RegistrationOptions options;
    options.min_registered = .3;
    const RegistrationResult result = registration_of(made.frames, options);
    EXPECT_EQ(std::ranges::count_if(result.frames,
                                    [](const auto& frame) { return frame.left_out.empty(); }),
              3);
}

TEST(SmoothPositions, have_honest_variances_whether_they_walk_or_jitter) {
    constexpr double noise = .6;
    constexpr int count = 400, seeds = 12;
    for (const auto& [walk, jitter] : {std::pair(.1, 0.), {0., .5}, {.3, .3}}) {
        double squares = 0, relative = 0;
        for (unsigned seed = 1; seed <= seeds; ++seed) {
            std::mt19937_64 engine(seed);
            std::normal_distribution<double> normal;
            std::vector<double> truth;
            std::vector<NoisyValue> positions;
            double at = 0;
            for (int i = 0; i < count; ++i) {
                at += .05 + walk * normal(engine);
                truth.push_back(at + jitter * normal(engine));
                const double variance =
                    i % 50 == 7 ? std::numeric_limits<double>::infinity() : noise * noise;
                positions.push_back({1. * i, truth.back() + noise * normal(engine), variance});
            }
            registration::smooth_positions(positions);
            for (int i = 0; i < count; ++i) {
                const NoisyValue& one = positions[static_cast<std::size_t>(i)];
                const double error = one.value - truth[static_cast<std::size_t>(i)];
                squares += error * error / (count * seeds);
                relative += error * error / one.variance / (count * seeds);
            }
        }
        EXPECT_LT(squares, noise * noise / 2) << walk << " " << jitter;
        EXPECT_NEAR(relative, 1, .3) << walk << " " << jitter;
    }
}

} // namespace
} // namespace sextant::test
