// SPDX-License-Identifier: BSD-3-Clause
// Series with faults: the truth is that of the frames, and each fault changes what it is said to.
#include "sextant/lab/faulty_series.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/lab/cramer_rao.hpp"
#include "sextant/registration/series_registration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using lab::Faults;
using lab::FaultySeries;
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

std::size_t differing(std::span<const float> one, std::span<const float> other) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        count += one[i] != other[i];
    return count;
}

/// Returns the RMS error of registered motions against the truth, over a grid of positions.
double error_of(const FaultySeries& series) {
    RegistrationResult result;
    run_threads(1, [&](const Communicator& communicator) {
        result = SeriesRegistration(communicator).run(series.open());
    });
    double sum = 0, count = 0;
    for (const FrameRegistration& frame : result.frames) {
        EXPECT_EQ(frame.left_out, "");
        for (double y = 16; y < 112; y += 16) {
            for (double x = 16; x < 112; x += 16) {
                const Point found = apply(frame.result.motion, {x, y}, registration::centre(shape));
                const Point truth = *series.truth(frame.frame, {x, y});
                sum += std::pow(found.x - truth.x, 2) + std::pow(found.y - truth.y, 2);
                ++count;
            }
        }
    }
    return std::sqrt(sum / count);
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

TEST(FaultySeries, registers_to_the_truth_without_faults) {
    EXPECT_LT(error_of(made({})), .2);
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
                const Point back = *series.truth(frame, series.place(frame, at));
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

/// Samples of a frame are those of the specimen at place(): without noise they would be equal.
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
            const Point at = series.place(frame, {static_cast<double>(i % shape.width),
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
    EXPECT_EQ(series.place(1, {3, 40}), plain.place(1, {3, 40}));
}

TEST(FaultySeries, changes_the_brightness_as_the_faults_say) {
    Faults faults;
    faults.dose_first = 20;
    faults.dose_last = 4;
    faults.dim_frame = 1;
    const FaultySeries fading = made(faults);
    EXPECT_NEAR(mean_of(fading.frame(0)), 20, 1);
    EXPECT_NEAR(mean_of(fading.frame(1)), (20 - 16. / 3) * .1, .1);
    EXPECT_NEAR(mean_of(fading.frame(3)), 4, .3);
    const FaultySeries clean = made({});
    faults = {};
    faults.contamination = 4;
    const FaultySeries dirty = made(faults);
    EXPECT_EQ(differing(clean.frame(0), dirty.frame(0)), 0U);
    const double added_first = mean_of(dirty.frame(1)) - mean_of(clean.frame(1)),
                 added_last = mean_of(dirty.frame(3)) - mean_of(clean.frame(3));
    EXPECT_GT(added_last, 10);
    EXPECT_LT(added_last, 40);
    EXPECT_NEAR(added_last / added_first, 3, .3);
    faults.contamination_patch = true;
    const FaultySeries patched = made(faults);
    EXPECT_LT(differing(clean.frame(3), patched.frame(3)), clean.frame(3).size() / 2);
    faults = {};
    faults.half_blank_frame = 2;
    const FaultySeries half = made(faults);
    const std::size_t middle = half.frame(2).size() / 2;
    EXPECT_NEAR(mean_of(half.frame(2).first(middle)), 10, 1);
    EXPECT_LT(mean_of(half.frame(2).subspan(middle)), .4);
}

TEST(FaultySeries, inverts_the_contrast_of_the_second_half) {
    Faults faults;
    faults.inverts = true;
    SeriesPlan plan = usual_plan();
    plan.dose = 1e5;
    const FaultySeries inverted = made(faults, plan), clean = made({}, plan);
    EXPECT_EQ(differing(clean.frame(1), inverted.frame(1)), 0U);
    for (std::size_t i = 0; i < clean.frame(2).size(); i += 7) {
        const double sum =
            static_cast<double>(clean.frame(2)[i]) + static_cast<double>(inverted.frame(2)[i]);
        EXPECT_NEAR(sum / plan.dose, 2, .1);
    }
}

TEST(FaultySeries, adds_the_stated_faults_of_the_detector) {
    const FaultySeries clean = made({});
    Faults faults;
    faults.spike_frame = 2;
    const FaultySeries spiked = made(faults);
    EXPECT_EQ(differing(clean.frame(1), spiked.frame(1)), 0U);
    EXPECT_EQ(differing(clean.frame(2), spiked.frame(2)), 1U);
    const float largest = *std::max_element(spiked.frame(2).begin(), spiked.frame(2).end());
    EXPECT_NEAR(static_cast<double>(largest), 3000, 40);
    faults = {};
    faults.hot_pixels = 20;
    const FaultySeries hot = made(faults);
    for (std::int64_t frame = 0; frame < 4; ++frame)
        EXPECT_NEAR(static_cast<double>(differing(clean.frame(frame), hot.frame(frame))), 20, 1);
    faults = {};
    faults.cosmic_rays = 2;
    const FaultySeries rays = made(faults);
    EXPECT_EQ(differing(clean.frame(0), rays.frame(0)), 0U);
    EXPECT_GT(differing(clean.frame(1), rays.frame(1)), 4U);
    EXPECT_LT(differing(clean.frame(1), rays.frame(1)), 60U);
    faults = {};
    faults.saturated = .4;
    const FaultySeries clipped = made(faults);
    const float level = *std::max_element(clipped.frame(0).begin(), clipped.frame(0).end());
    const auto at_level =
        static_cast<double>(std::count(clipped.frame(0).begin(), clipped.frame(0).end(), level));
    EXPECT_NEAR(at_level / static_cast<double>(clipped.frame(0).size()), .45, .07);
    faults = {};
    faults.gain = .2;
    const FaultySeries uneven = made(faults);
    double largest_change = 0;
    for (std::size_t i = 0; i < clean.frame(0).size(); ++i) {
        if (clean.frame(0)[i] == 0)
            continue;
        const auto gain = static_cast<double>(uneven.frame(0)[i] / clean.frame(0)[i]);
        largest_change = std::max(largest_change, std::abs(gain - 1));
        if (clean.frame(3)[i] > 0) {
            EXPECT_NEAR(static_cast<double>(uneven.frame(3)[i] / clean.frame(3)[i]), gain, 1e-5);
        }
    }
    EXPECT_NEAR(largest_change, .2, .005);
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
    const double of_pair = lab::cramer_rao(specimen, shape, plan.dose, share);
    EXPECT_NEAR(series.bound(1, specimen, share) * std::sqrt(2), of_pair, 1e-3 * of_pair);
}

TEST(FaultySeries, the_bound_grows_with_contamination_and_where_frames_do_not_overlap) {
    SeriesPlan plan = usual_plan();
    const registration::Specimen specimen = usual_specimen(plan);
    constexpr double share = .88;
    const double clean = FaultySeries(plan, {}, specimen).bound(3, specimen, share);
    Faults contamination;
    contamination.contamination = 4;
    EXPECT_GT(FaultySeries(plan, contamination, specimen).bound(3, specimen, share), 1.2 * clean);
    plan.drift = {0, 20, 0};
    const registration::Specimen wide = usual_specimen(plan);
    const FaultySeries far(plan, {}, wide);
    EXPECT_GT(far.bound(3, wide, share), 1.2 * far.bound(0, wide, share));
    Faults blank;
    blank.blank_frame = 2;
    EXPECT_TRUE(std::isinf(FaultySeries(plan, blank, wide).bound(2, wide, share)));
}

} // namespace
} // namespace sextant::test
