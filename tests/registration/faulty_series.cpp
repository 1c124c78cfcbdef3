// SPDX-License-Identifier: BSD-3-Clause
// Series with faults: the truth is that of the frames.
#include "bench/faulty_series.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using bench::Faults;
using bench::FaultySeries;
using registration::Point;
using registration::SeriesPlan;

constexpr ImageShape shape{128, 128};

SeriesPlan usual_plan() {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = 4;
    plan.drift = {.002, 1.3, -.8};
    plan.wander = .4;
    return plan;
}

registration::Specimen usual_specimen(const SeriesPlan& plan, std::string_view name = "carbon") {
    registration::SpecimenPlan specimen;
    const ImageShape field = registration::field_for(plan);
    specimen.field = {field.width + 16, field.height + 16};
    return registration::find_specimen(name).make(specimen);
}

FaultySeries made(const Faults& faults, const SeriesPlan& plan = usual_plan()) {
    return {plan, faults, usual_specimen(plan)};
}

double mean_of(std::span<const float> samples) {
    return std::accumulate(samples.begin(), samples.end(), 0.) /
           static_cast<double>(samples.size());
}

TEST(FaultySeries, without_faults_has_the_frames_of_a_synthetic_series) {
    SeriesPlan plan = usual_plan();
    plan.warp = 1.5;
    const FaultySeries series = made({}, plan);
    const registration::SyntheticSeries plain(plan, usual_specimen(plan));
    for (int frame = 0; frame < plan.frames; ++frame) {
        const kernel::FloatPlane counts = plain.counted(frame);
        for (Elements y = 0; y < shape.height; ++y) {
            const float* const row = counts.image().row(y);
            EXPECT_TRUE(
                std::equal(row, row + shape.width, series.frame(frame).begin() + y * shape.width))
                << "row " << y << " of frame " << frame;
        }
    }
}

TEST(FaultySeries, truth_and_place_are_inverse_for_every_motion) {
    Faults all;
    all.upside_down_frame = 2;
    all.magnification = .01;
    all.shear = .008;
    all.slow_scan = 3;
    SeriesPlan plan = usual_plan();
    plan.warp = 2;
    plan.warp_length = 200;
    for (const double jitter : {0., .7}) {
        all.jitter = jitter;
        const FaultySeries series = made(all, plan);
        for (std::int64_t frame = 0; frame < plan.frames; ++frame) {
            for (double y = 10; y < 120; y += 13) {
                const Point at{.8 * y + 3, y};
                const Point back = *series.truth(frame, series.position(frame, at));
                EXPECT_NEAR(back.x, at.x, 1e-6) << frame;
                EXPECT_NEAR(back.y, at.y, 1e-6) << frame;
            }
        }
    }
}

/// Returns the expected position of a feature after the motion that the fault adds in `frame`.
Point moved_by(const Faults& faults, std::int64_t frame, Point x) {
    SeriesPlan still = usual_plan();
    still.drift = {};
    still.wander = 0;
    return *made(faults, still).truth(frame, x);
}

TEST(FaultySeries, moves_features_as_the_faults_say) {
    const Point c = registration::centre(shape), at{c.x + 40, c.y - 20};
    Faults faults;
    faults.magnification = .01;
    EXPECT_NEAR(moved_by(faults, 3, at).x, c.x + 40.4, 1e-9);
    EXPECT_NEAR(moved_by(faults, 3, at).y, c.y - 20.2, 1e-9);
    EXPECT_NEAR(moved_by(faults, 0, at).x, at.x, 1e-9);
    faults = {};
    faults.shear = .01;
    EXPECT_NEAR(moved_by(faults, 3, at).x, c.x + 39.8, 1e-9);
    EXPECT_NEAR(moved_by(faults, 3, at).y, at.y, 1e-9);
    faults = {};
    faults.upside_down_frame = 1;
    EXPECT_NEAR(moved_by(faults, 1, at).x, c.x - 40, 1e-9);
    EXPECT_NEAR(moved_by(faults, 1, at).y, c.y + 20, 1e-9);
    EXPECT_NEAR(moved_by(faults, 2, at).x, at.x, 1e-9);
    faults = {};
    faults.blank_frame = 2;
    EXPECT_FALSE(made(faults).truth(2, at));
    EXPECT_FALSE(made(faults).recoverable(2));
    EXPECT_LT(mean_of(made(faults).frame(2)), 1);
}

/// Samples of a frame are those of the specimen at position(): without noise they would be equal.
TEST(FaultySeries, shows_the_specimen_at_the_true_position) {
    Faults faults;
    faults.jitter = 2;
    faults.upside_down_frame = 1;
    faults.magnification = .02;
    SeriesPlan plan = usual_plan();
    plan.dose = 1e5;
    const FaultySeries series = made(faults, plan);
    const registration::Specimen specimen = usual_specimen(plan);
    const Point c = registration::centre(shape);
    for (std::int64_t frame = 0; frame < plan.frames; ++frame) {
        for (Elements i = 0; i < shape.elements(); i += 61) {
            const Point at = series.position(frame, {static_cast<double>(i % shape.width),
                                                     static_cast<double>(i / shape.width)});
            const double expected = specimen({at.x - c.x, at.y - c.y});
            const float count = series.frame(frame)[static_cast<std::size_t>(i)];
            EXPECT_NEAR(static_cast<double>(count) / plan.dose, expected, .03) << frame;
        }
    }
}

TEST(FaultySeries, shifts_rows_independently_with_the_stated_deviation) {
    Faults faults;
    faults.jitter = .5;
    const FaultySeries series = made(faults);
    double squares = 0, products = 0, count = 0;
    for (std::int64_t frame = 0; frame < 4; ++frame) {
        for (double row = 0; row + 1 < static_cast<double>(shape.height); ++row) {
            const double shift = series.shift_of_row(frame, row);
            squares += shift * shift;
            products += shift * series.shift_of_row(frame, row + 1);
            ++count;
            const Point x{50, 60};
            const Point with = *series.truth(frame, x), without = *series.truth(frame, x, false);
            EXPECT_EQ(with.y, without.y);
            EXPECT_NEAR(with.x - without.x, series.shift_of_row(frame, with.y), 1e-12);
        }
    }
    EXPECT_NEAR(std::sqrt(squares / count), .5, .06);
    EXPECT_LT(std::abs(products / count), .05);
}

TEST(FaultySeries, disturbs_the_first_columns_of_each_row_differently) {
    Faults faults;
    faults.flyback = 12;
    SeriesPlan plan = usual_plan();
    plan.dose = 1e5;
    const FaultySeries series = made(faults, plan), plain = made({}, plan);
    std::array<double, 24> differences{};
    for (Elements i = 0; i < shape.elements(); ++i) {
        if (i % shape.width >= std::ssize(differences))
            continue;
        const auto at = static_cast<std::size_t>(i);
        const auto one = static_cast<double>(series.frame(1)[at]),
                   other = static_cast<double>(plain.frame(1)[at]);
        differences[static_cast<std::size_t>(i % shape.width)] += std::abs(one - other) / plan.dose;
    }
    for (std::size_t column = 0; column < differences.size(); ++column) {
        const double difference = differences[column] / static_cast<double>(shape.height);
        if (column < 6) {
            EXPECT_GT(difference, .02) << column;
        } else if (column >= 12) {
            EXPECT_LT(difference, .01) << column;
        }
    }
    EXPECT_EQ(series.position(1, {3, 40}), plain.position(1, {3, 40}));
}

TEST(FaultySeries, refuses_faults_of_frames_that_do_not_exist) {
    Faults faults;
    faults.spike_frame = 4;
    EXPECT_THROW(made(faults), InvalidTask);
    faults = {};
    faults.dose_first = 3;
    EXPECT_THROW(made(faults), InvalidTask);
}

TEST(FaultySeries, the_bound_of_a_frame_is_that_of_a_pair_without_the_noise_of_the_other_frame) {
    SeriesPlan plan = usual_plan();
    plan.drift = {};
    plan.wander = 0;
    const registration::Specimen specimen = usual_specimen(plan);
    const FaultySeries series(plan, {}, specimen);
    constexpr double share = .88;
    const double of_pair = bench::cramer_rao(specimen, shape, plan.dose, share);
    EXPECT_NEAR(series.bound(1, specimen, share) * std::sqrt(2), of_pair, 1e-3 * of_pair);
}

} // namespace
} // namespace sextant::test
