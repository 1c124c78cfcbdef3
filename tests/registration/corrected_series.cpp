// SPDX-License-Identifier: BSD-3-Clause
// Series with hot pixels and cosmic rays are registered as well as the same series without them.
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

constexpr ImageShape shape{256, 256};
constexpr int frames = 10;

struct Series {
    SyntheticSeries series;
    FramesMade frames;
};

Series make(const std::string& kind, std::uint64_t seed, double dose = 10) {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = frames;
    plan.dose = dose;
    plan.drift = {.05 * degree, 1.4, -.9};
    plan.wander = .4;
    plan.seed = seed;
    const SyntheticSeries series(plan, specimen_of(plan, kind, seed));
    return {series, counted_frames(series)};
}

struct Outcome {
    double error = 0;   ///< RMS, pixels
    int unexpected = 0; ///< frames that are left out or have a flag other than `ambiguous`
    RegistrationResult result;
};

Outcome outcome_of(const Series& made, RegistrationOptions options = {}) {
    options.reproducible = true;
    Outcome outcome;
    outcome.result = registration_of(made.frames, options);
    for (const FrameRegistration& frame : outcome.result.frames) {
        const RigidMotion truth = made.series.between(0, static_cast<int>(frame.frame));
        outcome.error +=
            std::pow(rms_distance(frame.result.motion, truth, shape, central), 2) / frames;
        outcome.unexpected += !frame.left_out.empty() || frame.mended || frame.in_doubt ||
                              frame.result.unrelated || !frame.result.converged || frame.gaps > 0;
    }
    outcome.error = std::sqrt(outcome.error);
    return outcome;
}

/// The outcome of a series without faults.
const Outcome& clean_outcome(const std::string& kind, std::uint64_t seed) {
    static std::map<std::pair<std::string, std::uint64_t>, Outcome> known;
    const auto [at, is_new] = known.try_emplace({kind, seed});
    if (is_new)
        at->second = outcome_of(make(kind, seed));
    return at->second;
}

using Fault = std::function<void(FramesMade&)>;

void expect_harmless(const Fault& fault) {
    for (const char* kind : {"lattice", "particles"}) {
        double clean = 0, faulty = 0;
        for (const std::uint64_t seed : {1, 2}) {
            Series made = make(kind, seed);
            const Outcome& before = clean_outcome(kind, seed);
            fault(made.frames);
            const Outcome after = outcome_of(made);
            clean += before.error * before.error;
            faulty += after.error * after.error;
            EXPECT_EQ(before.unexpected, 0) << kind << " " << seed;
            EXPECT_EQ(after.unexpected, 0) << kind << " " << seed;
            for (int frame = 0; frame < frames; ++frame)
                EXPECT_EQ(after.result.frames[static_cast<std::size_t>(frame)].result.ambiguous,
                          before.result.frames[static_cast<std::size_t>(frame)].result.ambiguous);
        }
        EXPECT_LE(std::sqrt(faulty), 1.05 * std::sqrt(clean)) << kind;
        EXPECT_LT(std::sqrt(clean / 2), .2) << kind;
    }
}

void add_hot_pixels(FramesMade& made) {
    constexpr Elements places[][2] = {{40, 50}, {200, 33}, {128, 130}, {61, 222}, {180, 181}};
    for (kernel::FloatPlane& frame : made)
        for (const auto& [x, y] : places)
            frame.row(y)[x] = 400;
}

TEST(CorrectedSeries, half_a_frame_without_beam_does_not_affect_the_registration) {
    for (const char* kind : {"lattice", "particles"}) {
        Series made = make(kind, 1);
        for (Elements y = shape.height / 2; y < shape.height; ++y)
            std::fill_n(made.frames[4].row(y), shape.width, 0.F);
        const Outcome after = outcome_of(made);
        EXPECT_LT(after.error, 1.5 * clean_outcome(kind, 1).error) << kind;
        EXPECT_EQ(after.unexpected, 1) << kind << ": the frame with gaps";
        EXPECT_EQ(after.result.frames[4].gaps, shape.elements() / 2) << kind;
        EXPECT_FALSE(after.result.frames[4].result.ambiguous) << kind;
        EXPECT_TRUE(after.result.frames[4].not_averaged.empty()) << kind;
    }
}

TEST(CorrectedSeries, one_pixel_of_300_means_in_one_frame_does_no_harm) {
    expect_harmless([](FramesMade& made) { made[4].row(90)[150] = 3000; });
}

TEST(CorrectedSeries, hot_pixels_of_the_detector_do_no_harm) {
    expect_harmless(add_hot_pixels);
}

TEST(CorrectedSeries, cosmic_rays_do_no_harm) {
    expect_harmless([](FramesMade& made) {
        registration::NoiseSource random(5, 1);
        for (int ray = 0; ray < 8; ++ray) {
            const double angle = 3 * random.uniform(), x = 20 + 210 * random.uniform(),
                         y = 20 + 210 * random.uniform();
            kernel::FloatPlane& frame = made[static_cast<std::size_t>(ray % 5) * 2];
            for (int i = 0; i < 12; ++i)
                frame.row(
                    std::lround(y + i * std::sin(angle)))[std::lround(x + i * std::cos(angle))] +=
                    static_cast<float>(500 + 3000 * random.uniform());
        }
    });
}

TEST(CorrectedSeries, hot_pixels_do_harm_if_they_are_not_corrected) {
    Series made = make("particles", 1);
    const double clean = clean_outcome("particles", 1).error;
    add_hot_pixels(made.frames);
    RegistrationOptions options;
    options.despike.enabled = false;
    EXPECT_GT(outcome_of(made, options).error, 2 * clean);
    const Outcome corrected = outcome_of(made);
    EXPECT_EQ(corrected.result.defects, 5);
    options.detector.defective = {{40, 50}, {200, 33}, {128, 130}, {61, 222}, {180, 181}};
    const Outcome listed = outcome_of(made, options);
    EXPECT_EQ(listed.result.defects, 5);
    for (std::size_t frame = 0; frame < frames; ++frame)
        EXPECT_EQ(listed.result.frames[frame].result.motion,
                  corrected.result.frames[frame].result.motion);
}

TEST(CorrectedSeries, a_clean_series_gives_the_same_bits_with_and_without_despiking) {
    const Series made = make("lattice", 4);
    RegistrationOptions off;
    off.despike.enabled = false;
    const Outcome with = outcome_of(made), without = outcome_of(made, off);
    EXPECT_EQ(with.result.defects, 0);
    EXPECT_EQ(with.result.average.mean, without.result.average.mean);
    for (std::size_t frame = 0; frame < frames; ++frame) {
        EXPECT_EQ(with.result.frames[frame].outliers.count, 0);
        EXPECT_EQ(with.result.frames[frame].result.motion,
                  without.result.frames[frame].result.motion);
    }
}

TEST(CorrectedSeries, outliers_of_each_frame_and_samples_of_results_are_reported) {
    Series made = make("carbon", 1);
    made.frames[3].row(90)[251] = 3012;
    const RegistrationResult result = outcome_of(made).result;
    EXPECT_EQ(describe(result.frames[3].outliers), "a hot pixel of 3012 at (251, 90)");
    EXPECT_EQ(result.frames[3].gaps, 0);
    EXPECT_EQ(result.frames[4].outliers.count, 0);
    EXPECT_LT(*std::max_element(result.average.mean.begin(), result.average.mean.end()), 60);
}

} // namespace
} // namespace sextant::test
