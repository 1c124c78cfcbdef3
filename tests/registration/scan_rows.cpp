// SPDX-License-Identifier: BSD-3-Clause
// The rows of scanned frames: their motions, their estimates from one frame, and series of them.
#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/row_fit.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include "bench/faulty_series.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::NoiseSource;
using registration::Point;
using registration::RowEstimate;
using registration::RowEvidence;
using registration::RowMotion;
using registration::RowPrior;
using registration::Transform;
using testing::HasSubstr;

constexpr std::size_t side = 128;
constexpr ImageShape square{side, side};

/// Rows that jitter by .7 px, and drift by 2 px to the right and 3 px downward.
RowMotion scanned(double jitter = .7) {
    RowMotion motion{{.01, 1.3, -2.2}, {}, {}, std::vector<float>(side, .1F)};
    NoiseSource noise(4, 1);
    for (std::size_t row = 0; row < side; ++row) {
        const double along = static_cast<double>(row) / side - .5;
        motion.dx.push_back(static_cast<float>(2 * along + jitter * noise.normal()));
        motion.dy.push_back(static_cast<float>(3 * along));
    }
    return motion;
}

/// A smooth image in closed form.
double content(Point at) {
    return 10 + 2 * std::sin(.31 * at.x + .11 * at.y) + 1.5 * std::sin(.17 * at.x - .29 * at.y) +
           std::sin(.05 * at.x * at.y / 40 + .2 * at.y);
}

std::vector<float> shown_by(const RowMotion& motion) {
    std::vector<float> samples;
    for (std::size_t y = 0; y < side; ++y) {
        for (std::size_t x = 0; x < side; ++x)
            samples.push_back(static_cast<float>(content(registration::apply_inverse(
                motion, {static_cast<double>(x), static_cast<double>(y)},
                registration::centre(square)))));
    }
    return samples;
}

std::unique_ptr<FrameSource> source_of(const std::vector<float>& samples) {
    FrameHeader header;
    header.frames = 1;
    header.shape = square;
    return std::make_unique<MemoryFrames>(header, std::as_bytes(std::span(samples)));
}

TEST(RowMotion, has_an_inverse) {
    const Transform motion = scanned();
    for (const Point at : {Point{3, 5}, {60.25, 70.5}, {120, 1}, {-4, 140}}) {
        const Point there = apply(motion, at, square);
        const Point back = apply_inverse(motion, there, square);
        EXPECT_NEAR(back.x, at.x, 1e-5);
        EXPECT_NEAR(back.y, at.y, 1e-5);
    }
}

TEST(RowMotion, that_changes_the_order_of_rows_is_refused) {
    RowMotion motion = scanned();
    for (std::size_t row = 0; row < side; ++row)
        motion.dy[row] = row % 2 == 0 ? 2.F : -2.F;
    EXPECT_THAT(test::message_of<InvalidTask>([&] {
                    apply(Transform(motion), {64, 60}, square);
                }),
                HasSubstr("less than a pixel per row"));
}

TEST(RowMotion, is_reversed_by_the_resampler_row_by_row) {
    const RowMotion motion = scanned();
    const std::vector<float> samples = shown_by(motion);
    const auto source = source_of(samples);
    registration::Resampler resampler(*source);
    std::vector<float> shown(samples.size()), parts(samples.size());
    resampler.resample(0, motion, {0, 0, square}, shown);
    double worst = 0;
    std::size_t seen = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const Point at{static_cast<double>(i % side), static_cast<double>(i / side)};
        const Point from = apply(Transform(motion), at, square);
        const bool inside = from.x > 2 && from.x < side - 3 && from.y > 0 && from.y < side - 1;
        if (!inside)
            continue;
        ++seen;
        worst = std::max(worst, std::abs(static_cast<double>(shown[i]) - content(at)));
    }
    EXPECT_GT(seen, shown.size() * 8 / 10);
    EXPECT_LT(worst, .1) << "bilinear interpolation is off by less than h²/8 of this content";
    // If all rows were displaced by their mean, the error would be much larger.
    RowMotion rigid = motion;
    std::fill(rigid.dx.begin(), rigid.dx.end(), 0.F);
    resampler.resample(0, rigid, {0, 0, square}, parts);
    double with_jitter = 0;
    for (std::size_t i = side * 20; i < side * 100; ++i) {
        if (std::isfinite(parts[i]))
            with_jitter = std::max(with_jitter, std::abs(static_cast<double>(parts[i] - shown[i])));
    }
    EXPECT_GT(with_jitter, .5);
    // The bits do not depend on how rows are divided, nor on threads.
    Team team(3);
    registration::Resampler shared(*source, &team);
    for (const Elements first : {Elements{0}, Elements{37}, Elements{101}}) {
        const Elements last = first == 0 ? 37 : first == 37 ? 101 : 128;
        shared.resample(0, motion, {0, first, {side, last - first}},
                        std::span(parts).subspan(static_cast<std::size_t>(first) * side,
                                                 static_cast<std::size_t>(last - first) * side));
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
        ASSERT_EQ(std::isnan(parts[i]), std::isnan(shown[i]));
        if (!std::isnan(shown[i])) {
            ASSERT_EQ(parts[i], shown[i]);
        }
    }
}

TEST(RowMotion, of_another_number_of_rows_is_refused) {
    const std::vector<float> samples = shown_by(scanned());
    const auto source = source_of(samples);
    registration::Resampler resampler(*source);
    RowMotion motion = scanned();
    motion.dx.pop_back();
    std::vector<float> shown(samples.size());
    EXPECT_THROW(resampler.resample(0, motion, {0, 0, square}, shown), InvalidTask);
}

TEST(RowTemplate, keeps_slow_content_and_its_gradient_and_skips_gaps) {
    RowMotion at_rest{{}, std::vector<float>(side), std::vector<float>(side), {}};
    std::vector<float> samples = shown_by(at_rest);
    samples[side * 40 + 50] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t x = 0; x < side; ++x)
        samples[side * 90 + x] = std::numeric_limits<float>::infinity();
    registration::RowTemplate filtered(square);
    filtered.fill(samples);
    struct Place {
        int x, y;
        double most; // next to a gap, the filter is one-sided
    };
    for (const auto& [x, y, most] : {Place{20, 30, .05}, Place{50, 40, .12}, Place{100, 64, .05}}) {
        const Point at{static_cast<double>(x), static_cast<double>(y)};
        constexpr double h = .01;
        EXPECT_NEAR(filtered.value(y)[x], content(at), 2 * most);
        EXPECT_NEAR(filtered.slope_x(y)[x],
                    (content({at.x + h, at.y}) - content({at.x - h, at.y})) / (2 * h), most);
        EXPECT_NEAR(filtered.slope_y(y)[x],
                    (content({at.x, at.y + h}) - content({at.x, at.y - h})) / (2 * h), most);
    }
    std::fill(samples.begin() + side * 60, samples.end(), std::numeric_limits<float>::quiet_NaN());
    filtered.fill(samples);
    EXPECT_TRUE(std::isnan(filtered.value(70)[64]));
    EXPECT_TRUE(std::isfinite(filtered.value(50)[64]));
}

/// Frames of `content`, with noise of this standard deviation.
std::vector<RowEvidence> evidence_of(const std::vector<RowMotion>& truths, double noise,
                                     const RowPrior& prior, Team* team = nullptr) {
    RowMotion at_rest{{}, std::vector<float>(side), std::vector<float>(side), {}};
    registration::RowTemplate reference(square, {}, team);
    reference.fill(shown_by(at_rest));
    registration::RowFit fit(square, team);
    std::vector<RowEvidence> all;
    for (std::size_t i = 0; i < truths.size(); ++i) {
        std::vector<float> samples = shown_by(truths[i]);
        NoiseSource source(9, i);
        for (float& sample : samples)
            sample = static_cast<float>(3 * static_cast<double>(sample) + noise * source.normal());
        RowMotion motion = at_rest;
        motion.motion = {truths[i].motion.alpha + .002, truths[i].motion.tx + .4,
                         truths[i].motion.ty - .3};
        for (int step = 0; step < 4; ++step) {
            RowEvidence evidence = fit.compare(reference, samples, motion);
            motion = solve_rows(evidence, prior, square).motion;
            if (step == 3)
                all.push_back(std::move(evidence));
        }
    }
    return all;
}

/// The RMS of the displacements of rows between two motions, and of those over the deviations.
struct RowErrors {
    double pixels = 0, deviations = 0;
};

RowErrors errors_of(const RowMotion& found, const RowMotion& truth) {
    RowErrors errors;
    constexpr std::size_t margin = 10;
    for (std::size_t row = margin; row < side - margin; ++row) {
        const Point p{64, static_cast<double>(row)};
        const double error = apply_inverse(Transform(found), p, square).x -
                             apply_inverse(Transform(truth), p, square).x;
        errors.pixels += error * error;
        errors.deviations += error * error / std::pow(static_cast<double>(found.sigma[row]), 2);
    }
    constexpr double rows = side - 2 * margin;
    return {std::sqrt(errors.pixels / rows), std::sqrt(errors.deviations / rows)};
}

TEST(RowFit, finds_the_rows_of_a_frame_with_their_deviations) {
    const RowMotion truth = scanned();
    for (const double noise : {.02, 2., 6.}) {
        RowPrior prior;
        prior.jitter = .49;
        const RowEvidence evidence = evidence_of({truth}, noise, prior).front();
        const RowEstimate found = solve_rows(evidence, prior, square);
        ASSERT_TRUE(found.determined);
        const RowErrors errors = errors_of(found.motion, truth);
        // One row of n samples with gradients g has the information Σg²/σ².
        double gradient = 0;
        for (std::size_t x = 0; x < side; ++x)
            gradient +=
                std::pow(content({x + .05, 64}) - content({x - .05, 64}), 2) / .01 / side * 9;
        const double bound = noise / std::sqrt(gradient * side);
        const double expected = std::max(.02, bound / std::hypot(1, bound / .7));
        EXPECT_LT(errors.pixels, 1.35 * expected) << noise;
        if (noise > 1) {
            EXPECT_GT(errors.pixels, .6 * expected) << noise;
            EXPECT_GT(errors.deviations, .8) << noise;
            EXPECT_LT(errors.deviations, 1.25) << noise;
        }
        EXPECT_NEAR(found.drift.y, 3 * (side - 1.) / side, .15 + noise / 20);
        EXPECT_NEAR(found.motion.motion.alpha, truth.motion.alpha, .001 + noise / 3000);
    }
}

TEST(RowFit, gives_the_same_bits_for_any_number_of_threads) {
    Team team(3);
    const RowPrior prior;
    const RowEvidence alone = evidence_of({scanned()}, 2, prior).front(),
                      shared = evidence_of({scanned()}, 2, prior, &team).front();
    for (std::size_t row = 0; row < side; ++row) {
        EXPECT_EQ(alone.rows[row].m, shared.rows[row].m);
        EXPECT_EQ(alone.rows[row].z, shared.rows[row].z);
    }
}

TEST(RowFit, of_a_frame_that_has_nothing_in_common_with_the_template_is_not_determined) {
    RowMotion at_rest{{}, std::vector<float>(side), std::vector<float>(side), {}};
    registration::RowTemplate reference(square);
    reference.fill(shown_by(at_rest));
    registration::RowFit fit(square);
    const std::vector<float> gaps(side * side, std::numeric_limits<float>::quiet_NaN());
    EXPECT_FALSE(solve_rows(fit.compare(reference, gaps, at_rest), {}, square).determined);
    const std::vector<float> constant(side * side, 3.F);
    EXPECT_FALSE(solve_rows(fit.compare(reference, constant, at_rest), {}, square).determined);
}

TEST(RowFit, keeps_the_order_of_rows) {
    RowEvidence evidence{{}, std::vector<registration::RowSums>(side)};
    for (std::size_t row = 0; row < side; ++row) {
        evidence.rows[row].m = {100, 0, 0, 100, 0, 100};
        evidence.rows[row].z = {0, row < side / 2 ? 0.F : 2000.F, 0}; // 20 px
    }
    const auto steepest = [&](const RowEstimate& estimate) {
        float most = 0;
        for (std::size_t row = 1; row < side; ++row)
            most = std::max(most, std::abs(estimate.motion.dy[row] - estimate.motion.dy[row - 1]));
        return most;
    };
    RowPrior prior;
    prior.stiffness[1] = .01;
    EXPECT_GT(steepest(solve_rows(evidence, prior, square)), 1);
    const RowEstimate ordered = ordered_rows(evidence, prior, square);
    EXPECT_LT(steepest(ordered), .9F);
    EXPECT_TRUE(ordered.determined);
    EXPECT_GT(ordered.motion.dy.back() - ordered.motion.dy.front(), 15);
}

TEST(RowPrior, is_estimated_from_the_frames) {
    std::vector<RowMotion> truths(6, scanned(0));
    for (std::size_t i = 0; i < truths.size(); ++i) {
        NoiseSource noise(7, i);
        for (float& dx : truths[i].dx)
            dx += static_cast<float>(.4 * noise.normal());
    }
    const RowPrior start;
    const RowPrior found = estimate_prior(evidence_of(truths, 2, start), start, square);
    EXPECT_NEAR(std::sqrt(found.jitter), .4, .03);
    EXPECT_GT(found.stiffness[0], 1e9) << "drifts are linear";
    EXPECT_GT(found.stiffness[1], 1e9);
    EXPECT_FALSE(found.is_rigid());
    // No jitter, but a drift that is not linear.
    for (std::size_t i = 0; i < truths.size(); ++i) {
        for (std::size_t row = 0; row < side; ++row) {
            truths[i].dx[row] = 0;
            truths[i].dy[row] =
                static_cast<float>(1.5 * std::sin(static_cast<double>(row + 40 * i) / 20));
        }
    }
    const RowPrior smooth = estimate_prior(evidence_of(truths, 2, start), start, square);
    EXPECT_EQ(smooth.jitter, 0);
    EXPECT_GT(smooth.stiffness[0], 1e9);
    EXPECT_LT(smooth.stiffness[1], 1e5);
    EXPECT_FALSE(smooth.is_rigid());
    const std::vector<RowMotion> still(6, scanned(0));
    EXPECT_TRUE(estimate_prior(evidence_of(still, 2, start), start, square).is_rigid());
}

TEST(Flyback, is_seen_in_the_residuals_of_columns) {
    std::vector<registration::ColumnErrors> errors(17, {1000, 1000});
    errors.back() = {1e6, 1e6};
    EXPECT_EQ(registration::disturbed_columns(errors), 0);
    errors[0] = {0, 0}; // outside the reference
    errors[1] = {4, 8}; // too few samples to know
    errors[5] = {1050, 1000};
    EXPECT_EQ(registration::disturbed_columns(errors), 0);
    for (const std::size_t column : {2U, 3U, 4U, 6U})
        errors[column] = {1300, 1000};
    EXPECT_EQ(registration::disturbed_columns(errors), 9) << "up to column 6, and two more";
    errors[2] = errors[3] = {1000, 1000};
    EXPECT_EQ(registration::disturbed_columns(errors), 0) << "two columns are not a stretch";
    EXPECT_EQ(registration::disturbed_columns({}), 0);
}

bench::FaultySeries series_of(const bench::Faults& faults, int frames = 8, Elements height = 112,
                              double drift = .6, double dose = 20,
                              const char* specimen = "carbon") {
    registration::SeriesPlan plan;
    plan.shape = {144, height};
    plan.frames = frames;
    plan.dose = dose;
    plan.drift = {0, drift, -.4};
    plan.wander = .3;
    plan.seed = 6;
    return {plan, faults, specimen_of(plan, specimen, 6, 32)};
}

struct RowsOfSeries {
    RegistrationResult result;
    std::map<std::int64_t, Transform> transforms;
};

RowsOfSeries registered_by(RegistrationOptions options, const bench::FaultySeries& series,
                           int ranks = 1) {
    options.reproducible = true;
    RowsOfSeries found;
    RegistrationHooks hooks;
    hooks.write = [&](const RegistrationResult&, RegisteredFrames& frames) {
        for (const std::int64_t frame : frames.numbers())
            found.transforms[frame] = frames.transform(frame);
    };
    found.result = registration_of([&] { return series.open(); }, ranks, options, hooks);
    return found;
}

RowsOfSeries registered_rows(const bench::FaultySeries& series, int ranks = 1,
                             RegistrationOptions options = {}) {
    options.scan_rows = ScanRows::on;
    return registered_by(options, series, ranks);
}

/// The RMS error of positions to the right, without their mean; `slope`: also without what is
/// linear in the row of the specimen, which all frames may have in common.
double error_of_rows(const bench::FaultySeries& series, const RowsOfSeries& found, bool slope) {
    const ImageShape shape = series.plan().shape;
    std::vector<double> errors, places;
    for (const auto& [frame, transform] : found.transforms) {
        for (double y = 12; y < static_cast<double>(shape.height) - 12; ++y) {
            const Point p{72, y};
            const Point truth = series.position(frame, p);
            errors.push_back(apply_inverse(transform, p, shape).x - truth.x);
            places.push_back(truth.y);
        }
    }
    const auto count = static_cast<double>(errors.size());
    const double mean = std::accumulate(errors.begin(), errors.end(), 0.) / count;
    const double middle = std::accumulate(places.begin(), places.end(), 0.) / count;
    double cross = 0, square_of = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        cross += (errors[i] - mean) * (places[i] - middle);
        square_of += (places[i] - middle) * (places[i] - middle);
    }
    double sum = 0;
    for (std::size_t i = 0; i < errors.size(); ++i)
        sum +=
            std::pow(errors[i] - mean - (slope ? cross / square_of * (places[i] - middle) : 0), 2);
    return std::sqrt(sum / count);
}

TEST(ScanRows, of_a_jittering_series_are_found) {
    bench::Faults faults;
    faults.jitter = .6;
    const bench::FaultySeries series = series_of(faults);
    const RowsOfSeries found = registered_rows(series);
    // A row of carbon has a bound of .2 px here; eight frames leave .6/√8/2 px in common.
    EXPECT_LT(error_of_rows(series, found, false), .29);
    ASSERT_TRUE(found.result.rows);
    EXPECT_NEAR(found.result.rows->jitter, .54, .06);
    EXPECT_FALSE(found.result.misfit.significant);
    for (const FrameRegistration& frame : found.result.frames) {
        ASSERT_TRUE(frame.rows);
        ASSERT_TRUE(frame.row_fit);
        EXPECT_EQ(frame.rows->motion, frame.result.motion);
        EXPECT_EQ(std::get<RowMotion>(found.transforms.at(frame.frame)).dx, frame.rows->dx);
    }
}

TEST(ScanRows, that_drift_within_frames_are_found) {
    bench::Faults faults;
    faults.slow_scan = 1.5;
    const bench::FaultySeries series = series_of(faults);
    const RowsOfSeries found = registered_rows(series);
    EXPECT_LT(error_of_rows(series, found, true), .06);
    EXPECT_LT(found.result.rows->jitter, .02);
    EXPECT_GT(found.result.rows->drift_x, .5);
    EXPECT_GT(found.result.rows->drift_y, .5);
    EXPECT_FALSE(found.result.misfit.significant);
}

TEST(ScanRows, have_no_data_where_the_flyback_disturbs_them) {
    bench::Faults faults;
    faults.flyback = 16;
    const bench::FaultySeries series = series_of(faults, 10);
    const RowsOfSeries found = registered_rows(series);
    EXPECT_GE(found.result.flyback, 5);
    EXPECT_LE(found.result.flyback, 16);
    EXPECT_LT(error_of_rows(series, found, false), .06);
    // The average has a gap where all frames have one; they drift to the right.
    const auto pixel = static_cast<std::size_t>(144 * 56 + 1);
    EXPECT_EQ(found.result.average.count[pixel], 0);
    EXPECT_EQ(registered_rows(series, 3).result.flyback, found.result.flyback);
    EXPECT_EQ(registered_rows(series_of({}, 10)).result.flyback, 0);
}

/// These are compared with the part of the average that is nearest to them.
TEST(ScanRows, are_registered_in_frames_that_do_not_overlap_the_reference) {
    bench::Faults faults;
    faults.jitter = .5;
    const bench::FaultySeries series = series_of(faults, 12, 112, 16);
    RegistrationOptions options;
    options.reference = 0;
    const RowsOfSeries found = registered_rows(series, 2, options);
    for (const std::size_t frame : {1U, 6U, 11U}) {
        const FrameRegistration& one = found.result.frames[frame];
        ASSERT_TRUE(one.rows) << frame;
        EXPECT_TRUE(one.result.converged) << frame;
        EXPECT_GT(one.row_fit->jitter, .3) << frame;
        EXPECT_LT(one.row_fit->jitter, .7) << frame;
    }
}

TEST(ScanRows, of_a_clean_series_hardly_move) {
    const RowsOfSeries found = registered_rows(series_of({}));
    EXPECT_LT(found.result.rows->jitter, .02);
    EXPECT_LT(error_of_rows(series_of({}), found, false), .06);
}

TEST(ScanRows, are_the_same_on_any_number_of_ranks_and_threads) {
    bench::Faults faults;
    faults.jitter = .5;
    faults.blank_frame = 3;
    const bench::FaultySeries series = series_of(faults, 6);
    const RowsOfSeries alone = registered_rows(series);
    EXPECT_NE(alone.result.frames[3].left_out, "");
    EXPECT_FALSE(alone.result.frames[3].rows);
    RegistrationOptions threads;
    threads.threads = 2;
    EXPECT_EQ(registered_rows(series, 1, threads).result.average.mean, alone.result.average.mean);
    for (const int ranks : {2, 3, 8}) {
        const RowsOfSeries found = registered_rows(series, ranks);
        ASSERT_EQ(found.transforms.size(), alone.transforms.size());
        for (const auto& [frame, transform] : alone.transforms) {
            const auto& rows = std::get<RowMotion>(transform);
            const auto& other = std::get<RowMotion>(found.transforms.at(frame));
            for (std::size_t row = 0; row < rows.dx.size(); ++row)
                EXPECT_NEAR(rows.dx[row], other.dx[row], 2e-3) << ranks;
        }
    }
}

TEST(ScanRows, that_jitter_are_recognised) {
    bench::Faults faults;
    for (const auto& [jitter, dose] : {std::pair{1., 10.}, {.6, 20.}, {.2, 200.}}) {
        SCOPED_TRACE(jitter);
        faults.jitter = jitter;
        faults.flyback = dose == 200 ? 10 : 0;
        const bench::FaultySeries series = series_of(faults, 8, 112, .6, dose);
        const RowsOfSeries found = registered_by({}, series), on = registered_rows(series);
        EXPECT_TRUE(found.result.jitter_recognised);
        EXPECT_FALSE(on.result.jitter_recognised);
        EXPECT_EQ(found.result.average.mean, on.result.average.mean);
        RegistrationOptions off;
        off.scan_rows = ScanRows::off;
        const RegistrationResult rigid = registered_by(off, series).result;
        EXPECT_FALSE(rigid.rows);
        EXPECT_TRUE(rigid.misfit.of_rows);
        EXPECT_TRUE(registered_by({}, series, 3).result.jitter_recognised);
    }
}

TEST(ScanRows, that_do_not_jitter_are_left_alone) {
    bench::Faults slow, pattern, stop, turning;
    slow.slow_scan = 1.5;
    pattern.gain = .15;
    stop.stop = 12;
    turning.magnification = .02;
    for (const bench::Faults& faults : {bench::Faults(), slow, pattern, stop, turning}) {
        for (const char* specimen : {"carbon", "lattice", "particles"}) {
            for (const double dose : {1., 20., 2000.}) {
                SCOPED_TRACE(std::string(specimen) + " " + std::to_string(dose) + " " +
                             std::to_string(faults.slow_scan));
                const bench::FaultySeries series = series_of(faults, 8, 112, .6, dose, specimen);
                RegistrationOptions off;
                off.scan_rows = ScanRows::off;
                const RowsOfSeries found = registered_by({}, series);
                EXPECT_FALSE(found.result.rows);
                EXPECT_FALSE(found.result.jitter_recognised);
                EXPECT_EQ(found.result.average.mean,
                          registered_by(off, series).result.average.mean);
            }
        }
    }
}

TEST(ScanRows, that_jitter_are_not_registered_with_other_models) {
    bench::Faults faults;
    faults.jitter = .6;
    const bench::FaultySeries series = series_of(faults), pair = series_of(faults, 2);
    RegistrationOptions options;
    EXPECT_FALSE(registered_by(options, pair).result.rows);
    options.model = MotionModel::affine;
    EXPECT_FALSE(registered_by(options, series).result.rows);
    options.model = MotionModel::automatic;
    EXPECT_TRUE(registered_by(options, series).result.jitter_recognised);
    options.model = MotionModel::translation;
    for (const FrameRegistration& frame : registered_by(options, series).result.frames)
        EXPECT_TRUE(frame.rows && frame.result.motion.alpha == 0);
    options.model = MotionModel::rigid;
    options.roi = {8, 8, 120, 96};
    EXPECT_FALSE(registered_by(options, series).result.rows) << "frames are not read whole";
}

TEST(ScanRows, that_were_recognised_continue_from_a_checkpoint) {
    bench::Faults faults;
    faults.jitter = .6;
    const bench::FaultySeries series = series_of(faults);
    const ImageShape shape = series.plan().shape;
    FramesMade frames;
    for (std::int64_t frame = 0; frame < 8; ++frame) {
        kernel::FloatPlane& plane = frames.emplace_back(shape);
        for (Elements y = 0; y < shape.height; ++y)
            std::copy_n(series.frame(frame).data() + y * shape.width, shape.width, plane.row(y));
    }
    RegistrationOptions options;
    options.reproducible = true;
    const SeriesRun whole = run_series(frames, 2, options);
    EXPECT_TRUE(whole.result.jitter_recognised);
    const TemporaryFolder folder;
    options.checkpoint = folder.path();
    EXPECT_TRUE(run_series(frames, 2, options, [rows = 0](int rank, auto work) mutable {
                    return rank == 1 && work == registration::Work::rows && ++rows == 5;
                }).cancelled);
    const SeriesRun resumed = run_series(frames, 2, options);
    EXPECT_GT(resumed.resumed, 10U);
    EXPECT_LT(total(resumed), total(whole));
    expect_same(resumed, whole);
}

std::string refusal_of(const bench::FaultySeries& series, RegistrationOptions options) {
    return message_of<Error>([&] { registered_rows(series, 2, std::move(options)); });
}

TEST(ScanRows, are_refused_with_other_models_and_for_pairs) {
    const bench::FaultySeries series = series_of({}, 3), pair = series_of({}, 2);
    for (const MotionModel model : {MotionModel::similarity, MotionModel::affine,
                                    MotionModel::nonrigid, MotionModel::automatic}) {
        RegistrationOptions options;
        options.model = model;
        EXPECT_THAT(refusal_of(series, options),
                    HasSubstr("with the model rigid or translation, but the model is"));
    }
    EXPECT_THAT(refusal_of(pair, {}), HasSubstr("2 frames can be registered, expected at least 3"));
    RegistrationOptions translation;
    translation.model = MotionModel::translation;
    for (const FrameRegistration& frame : registered_rows(series, 1, translation).result.frames)
        EXPECT_EQ(frame.result.motion.alpha, 0);
}

} // namespace
} // namespace sextant::test
