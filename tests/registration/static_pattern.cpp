// SPDX-License-Identifier: BSD-3-Clause
// Series with a static pattern of the detector.
#include "sextant/registration/correct/static_pattern.hpp"

#include "sextant/registration/correct/layers.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "bench/faulty_series.hpp"
#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using bench::Faults;
using bench::FaultySeries;

constexpr ImageShape shape{256, 256};

SeriesPlan moving_plan() {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = 16;
    plan.dose = 100;
    plan.drift = {0, .8, -.6};
    plan.wander = .4;
    return plan;
}

/// A plan whose specimen moves by about a pixel.
SeriesPlan still_plan() {
    SeriesPlan plan = moving_plan();
    plan.drift = {0, .06, .05};
    plan.wander = .06;
    return plan;
}

FaultySeries made(const Faults& faults, const SeriesPlan& plan, double contrast = .15,
                  std::string_view specimen = "carbon") {
    registration::SpecimenPlan shown;
    const ImageShape field = registration::field_for(plan);
    shown.field = {field.width + 32, field.height + 32};
    shown.contrast = contrast;
    return {plan, faults, registration::find_specimen(specimen).make(shown)};
}

RegistrationResult registered(const FaultySeries& series, StaticSearch search, int ranks = 1) {
    RegistrationOptions options;
    options.static_pattern = search;
    options.recorded_mean = true;
    return registration_of([&] { return series.open(); }, ranks, options);
}

/// The RMS error of the positions of the frame's centres, apart from their mean.
double error_of(const RegistrationResult& result, const FaultySeries& series) {
    const registration::Point c = registration::centre(series.plan().shape);
    double x = 0, y = 0, squares = 0, count = 0;
    for (const FrameRegistration& frame : result.frames) {
        if (!frame.left_out.empty())
            continue;
        const registration::Point truth = *series.truth(frame.frame, c);
        const double dx = frame.result.motion.tx - (truth.x - c.x),
                     dy = frame.result.motion.ty - (truth.y - c.y);
        x += dx;
        y += dy;
        squares += dx * dx + dy * dy;
        ++count;
    }
    return std::sqrt(squares / count - (x * x + y * y) / (count * count));
}

struct StaticCase {
    std::string name;
    Faults faults;
    double contrast = .15;
    double least_without = .5; ///< the error that the fault causes if nothing is done
};

std::vector<StaticCase> static_cases() {
    std::vector<StaticCase> cases;
    const auto add = [&](const char* name, const auto& set, double contrast, double without) {
        cases.push_back({name, {}, contrast, without});
        set(cases.back().faults);
    };
    add(
        "stop", [](Faults& faults) { faults.stop = 20; }, .15, .5);
    add(
        "spot", [](Faults& faults) { faults.spot = 4; }, .15, .5);
    add(
        "gain",
        [](Faults& faults) {
            faults.gain = .17;
            faults.gain_smooth = .05;
        },
        .05, .15);
    add(
        "vignette and dust",
        [](Faults& faults) {
            faults.vignette = .5;
            faults.dust = 25;
        },
        .15, .05);
    add(
        "background", [](Faults& faults) { faults.background = 3; }, .15, .5);
    add(
        "columns", [](Faults& faults) { faults.columns = 3; }, .15, .15);
    return cases;
}

TEST(StaticPattern, does_not_hold_back_the_motion) {
    for (const StaticCase& one : static_cases()) {
        SCOPED_TRACE(one.name);
        const FaultySeries series = made(one.faults, moving_plan(), one.contrast);
        const RegistrationResult plain = registered(series, StaticSearch::off);
        EXPECT_GT(error_of(plain, series), one.least_without);
        EXPECT_FALSE(plain.static_pattern);
        const RegistrationResult result = registered(series, StaticSearch::automatic);
        EXPECT_LT(error_of(result, series), .08);
        EXPECT_TRUE(result.static_pattern);
        EXPECT_FALSE(result.static_bias);
        EXPECT_FALSE(result.frames.front().static_bias);
    }
}

TEST(StaticPattern, is_the_pattern_of_the_detector) {
    Faults faults;
    faults.spot = 4;
    const SeriesPlan plan = moving_plan();
    const FaultySeries series = made(faults, plan), without = made({}, plan);
    const std::vector<float> found =
        registered(series, StaticSearch::automatic).static_pattern->image();
    // The expected difference of two frames with and without the spot is the spot.
    double product = 0, power = 0, other = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double spot = 0;
        for (std::int64_t frame = 0; frame < plan.frames; ++frame)
            spot +=
                static_cast<double>(series.frame(frame)[i] - without.frame(frame)[i]) / plan.frames;
        product += spot * static_cast<double>(found[i]);
        power += spot * spot;
        other += static_cast<double>(found[i]) * static_cast<double>(found[i]);
    }
    EXPECT_GT(product / std::sqrt(power * other), .8);
}

TEST(StaticPattern, constant_pixels_are_gaps) {
    Faults faults;
    faults.stop = 20;
    const FaultySeries series = made(faults, moving_plan());
    const RegistrationResult result = registered(series, StaticSearch::automatic);
    const auto constant = static_cast<double>(result.static_pattern->constant.size());
    EXPECT_NEAR(constant, std::numbers::pi * 20 * 20, 60);
    // Where the stop is in some frames, the others show the specimen.
    const std::vector<float>& count = result.average.count;
    EXPECT_LT(*std::min_element(count.begin(), count.end()), 16);
    const std::vector<float>& mean = result.average.mean;
    EXPECT_LT(*std::max_element(mean.begin(), mean.end()), 3 * 100);
    const std::vector<float>& recorded = result.recorded.mean;
    EXPECT_GT(*std::max_element(recorded.begin(), recorded.end()), 7 * 100);
}

TEST(StaticPattern, is_the_same_on_any_number_of_ranks) {
    Faults faults;
    faults.stop = 20;
    faults.background = 2;
    const FaultySeries series = made(faults, moving_plan());
    const RegistrationResult one = registered(series, StaticSearch::automatic),
                             three = registered(series, StaticSearch::automatic, 3);
    ASSERT_TRUE(one.static_pattern && three.static_pattern);
    EXPECT_EQ(one.static_pattern->constant, three.static_pattern->constant);
    for (std::size_t i = 0; i < one.static_pattern->of_results.size(); i += 17)
        EXPECT_NEAR(one.static_pattern->of_results[i], three.static_pattern->of_results[i], .02);
    for (std::size_t i = 0; i < one.frames.size(); ++i)
        EXPECT_NEAR(one.frames[i].result.motion.tx, three.frames[i].result.motion.tx, .005);
}

TEST(StaticPattern, is_not_found_where_nothing_stands_still) {
    for (const char* specimen : {"carbon", "lattice", "particles"}) {
        for (SeriesPlan plan : {moving_plan(), still_plan()}) {
            for (const double turn : {0., .0009}) {
                plan.drift.alpha = turn;
                const RegistrationResult result =
                    registered(made({}, plan, .15, specimen), StaticSearch::automatic);
                EXPECT_FALSE(result.static_pattern) << specimen;
                EXPECT_FALSE(result.static_bias) << specimen;
            }
        }
    }
}

TEST(StaticPattern, follows_a_fading_dose) {
    Faults faults;
    faults.dose_first = 150;
    faults.dose_last = 40;
    const FaultySeries fading = made(faults, moving_plan(), .15, "lattice");
    EXPECT_FALSE(registered(fading, StaticSearch::automatic).static_pattern);
    faults.background = 3;
    const FaultySeries series = made(faults, moving_plan());
    EXPECT_LT(error_of(registered(series, StaticSearch::automatic), series), .08);
    EXPECT_GT(error_of(registered(series, StaticSearch::off), series), .5);
}

TEST(StaticPattern, is_flagged_if_the_specimen_moves_too_little) {
    for (const char* kind : {"spot", "background"}) {
        Faults faults;
        (std::string(kind) == "spot" ? faults.spot : faults.background) = 4;
        const RegistrationResult result =
            registered(made(faults, still_plan()), StaticSearch::automatic);
        EXPECT_TRUE(result.static_bias) << kind;
        for (const FrameRegistration& frame : result.frames)
            EXPECT_TRUE(frame.static_bias) << kind;
    }
}

TEST(StaticPattern, of_a_few_frames_is_subtracted_or_flagged) {
    for (const int frames : {2, 3, 4, 5}) {
        for (const StaticCase& one : static_cases()) {
            if (one.name == "vignette and dust")
                continue; // it causes errors below .1 pixels
            SCOPED_TRACE(one.name + ", " + std::to_string(frames) + " frames");
            SeriesPlan plan = moving_plan();
            plan.frames = frames;
            plan.drift = {0, 2.4, -1.8};
            const FaultySeries series = made(one.faults, plan, one.contrast);
            const RegistrationResult result = registered(series, StaticSearch::automatic);
            EXPECT_TRUE(result.static_bias || error_of(result, series) < .08)
                << error_of(result, series);
        }
    }
}

TEST(StaticPattern, is_not_found_in_a_few_frames_where_nothing_stands_still) {
    for (const int frames : {2, 3, 5}) {
        for (const char* specimen : {"carbon", "lattice", "particles"}) {
            for (SeriesPlan plan : {moving_plan(), still_plan()}) {
                plan.frames = frames;
                for (const double turn : {0., .0009}) {
                    plan.drift.alpha = turn;
                    const RegistrationResult result =
                        registered(made({}, plan, .15, specimen), StaticSearch::automatic);
                    EXPECT_FALSE(result.static_pattern) << specimen << ", " << frames;
                    EXPECT_FALSE(result.static_bias) << specimen << ", " << frames;
                }
            }
        }
    }
}

TEST(StaticPattern, of_a_gain_is_flagged_if_the_specimen_moves_by_half_a_pixel) {
    SeriesPlan plan = still_plan();
    plan.frames = 20;
    plan.drift = {0, .03, .02};
    plan.wander = .03;
    Faults faults;
    faults.gain = .17;
    faults.gain_smooth = .05;
    EXPECT_TRUE(registered(made(faults, plan, .05), StaticSearch::automatic).static_bias);
    EXPECT_FALSE(registered(made({}, plan, .05), StaticSearch::automatic).static_bias);
}

// Two layers fit this series better than one, but with wrong displacements.
TEST(StaticPattern, is_not_found_in_a_clean_series_that_moves_by_two_pixels) {
    SeriesPlan plan = moving_plan();
    plan.frames = 20;
    plan.drift = {0, .08, -.06};
    plan.wander = .3;
    for (int seed = 1; seed <= 3; ++seed) {
        plan.seed = static_cast<std::uint64_t>(seed);
        const FaultySeries series = made({}, plan);
        const RegistrationResult result = registered(series, StaticSearch::automatic);
        EXPECT_FALSE(result.static_pattern) << seed;
        EXPECT_FALSE(result.static_bias) << seed;
        EXPECT_LT(error_of(result, series), .04) << seed;
    }
}

// Displacements at which the noise of small frames correlates make it look like a specimen, and the
// specimen like a static pattern.
TEST(StaticPattern, is_not_found_in_small_frames_that_hardly_move) {
    for (const char* specimen : {"carbon", "lattice"}) {
        for (const Elements side : {32, 48}) {
            SeriesPlan plan = still_plan();
            plan.shape = {side, side};
            plan.frames = 60;
            plan.drift = {};
            const FaultySeries series = made({}, plan, .15, specimen);
            const RegistrationResult result = registered(series, StaticSearch::automatic);
            EXPECT_FALSE(result.static_pattern) << specimen << ", " << side;
            EXPECT_FALSE(result.static_bias) << specimen << ", " << side;
            EXPECT_LT(error_of(result, series), .4) << specimen << ", " << side;
        }
    }
}

TEST(StaticPattern, of_a_single_image_is_not_looked_for) {
    SeriesPlan plan = still_plan();
    plan.frames = 8;
    plan.drift = {};
    plan.wander = 0;
    Faults faults;
    faults.stop = 20;
    const RegistrationResult result = registered(made(faults, plan), StaticSearch::automatic);
    EXPECT_FALSE(result.static_bias);
    EXPECT_LT(error_of(result, made(faults, plan)), .1);
}

TEST(StaticPattern, is_found_if_the_specimen_moves_far) {
    SeriesPlan plan = moving_plan();
    for (const double drift : {4., 6.}) {
        plan.drift = {0, .8 * drift, -.6 * drift};
        for (const char* specimen : {"carbon", "lattice", "particles"})
            EXPECT_FALSE(
                registered(made({}, plan, .15, specimen), StaticSearch::automatic).static_pattern)
                << specimen;
        for (const StaticCase& one : static_cases()) {
            SCOPED_TRACE(one.name);
            const FaultySeries series = made(one.faults, plan, one.contrast);
            const RegistrationResult result = registered(series, StaticSearch::automatic);
            EXPECT_LT(error_of(result, series), .08);
            EXPECT_TRUE(result.static_pattern);
        }
    }
}

TEST(StaticPattern, is_told_from_shading_if_the_specimen_moves_far) {
    SeriesPlan plan = moving_plan();
    plan.drift = {0, 4.8, -3.6};
    Faults faults;
    faults.spot = 4;
    const FaultySeries series = made(faults, plan, .15, "particles");
    EXPECT_GT(error_of(registered(series, StaticSearch::off), series), 5);
    EXPECT_LT(error_of(registered(series, StaticSearch::automatic), series), .2);
    for (const double drift : {.05, 1., 6.}) {
        plan.drift = {0, .8 * drift, -.6 * drift};
        Faults growing;
        growing.contamination = .5;
        for (const char* specimen : {"carbon", "lattice", "particles"})
            EXPECT_FALSE(registered(made(growing, plan, .15, specimen), StaticSearch::automatic)
                             .static_pattern)
                << specimen;
    }
}

TEST(StaticPattern, is_refined_if_frames_are_rotated) {
    SeriesPlan plan = moving_plan();
    plan.drift.alpha = .0009;
    for (const StaticCase& one : static_cases()) {
        if (one.name != "spot" && one.name != "background")
            continue;
        SCOPED_TRACE(one.name);
        const FaultySeries series = made(one.faults, plan);
        for (const int ranks : {1, 2}) {
            const RegistrationResult result = registered(series, StaticSearch::automatic, ranks);
            EXPECT_LT(error_of(result, series), .06);
            EXPECT_TRUE(result.static_bias);
        }
    }
}

TEST(StaticSum, finds_constant_areas_of_any_width_but_no_single_pixels) {
    const ImageShape small{32, 24};
    registration::StaticSum sum(small);
    const std::vector<Elements> columns = {5, 6, 20, 21, 22};
    for (int frame = 0; frame < 8; ++frame) {
        std::vector<float> samples(static_cast<std::size_t>(small.elements()));
        for (Elements i = 0; i < small.elements(); ++i) {
            const bool constant =
                std::ranges::count(columns, i % small.width) > 0 || i == 10 * small.width + 12;
            samples[static_cast<std::size_t>(i)] =
                constant ? 7 : static_cast<float>((i * 37 + frame * 11) % 23);
        }
        sum.add(samples, std::nullopt);
    }
    run_threads(1, [&](const Communicator& communicator) {
        const registration::StaticPattern pattern = sum.pattern(communicator);
        EXPECT_EQ(std::ssize(pattern.constant), std::ssize(columns) * small.height);
        for (const Elements pixel : pattern.constant)
            EXPECT_EQ(std::ranges::count(columns, pixel % small.width), 1) << pixel;
    });
}

} // namespace
} // namespace sextant::test
