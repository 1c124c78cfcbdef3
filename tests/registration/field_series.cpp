// SPDX-License-Identifier: BSD-3-Clause
// The scan of non-rigid motions.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/stages/stages.hpp"

#include <algorithm>

#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::Displacement;
using registration::FieldSeries;
using registration::SplineMotion;

constexpr ImageShape shape{128, 128};

MadeSeries made_series(const SeriesPlan& plan, const char* specimen = "carbon") {
    const SyntheticSeries series(plan, specimen_of(plan, specimen));
    return {series, counted_frames(series), 0};
}

/// Frames with increasing distortion, up to 3 pixels.
MadeSeries warped_series(int frames) {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = frames;
    plan.dose = 40;
    plan.drift = {-.1 * degree, -.8, .5};
    plan.warp = 3;
    plan.warp_length = 160;
    return made_series(plan);
}

/// RMS distance on the specimen between points that a motion maps to each other and that should
/// coincide, over the central part of the frame.
double error_of_field(const MadeSeries& made, const Displacement& phi, int reference, int frame) {
    const auto [width, height] = made.frames.front().shape();
    constexpr double margin = 12;
    const auto shows = [&, right = static_cast<double>(width - 1),
                        below = static_cast<double>(height - 1)](Point at) {
        return at.x >= 0 && at.y >= 0 && at.x <= right && at.y <= below;
    };
    double sum = 0, count = 0;
    for (double y = margin; y < static_cast<double>(height) - margin; y += 4) {
        for (double x = margin; x < static_cast<double>(width) - margin; x += 4) {
            const Point at = phi({x, y});
            if (!shows(at))
                continue;
            const Point here = made.series.position(reference, {x, y});
            const Point there = made.series.position(frame, at);
            sum +=
                (there.x - here.x) * (there.x - here.x) + (there.y - here.y) * (there.y - here.y);
            count += 1;
        }
    }
    return std::sqrt(sum / count);
}

FieldSeries scanned_by_fields(const FramesMade& frames, int ranks,
                              RegistrationOptions options = {}) {
    options.reproducible = true;
    std::vector<FieldSeries> parts(static_cast<std::size_t>(ranks));
    run_threads(ranks, [&](const Communicator& communicator) {
        MadeSource source(frames);
        const registration::SeriesContext context{communicator, source, options};
        parts[static_cast<std::size_t>(communicator.rank())] =
            register_series_by_fields(context, inspect_series(context));
    });
    FieldSeries all;
    for (const FieldSeries& part : parts) {
        all.frames.insert(all.frames.end(), part.frames.begin(), part.frames.end());
        all.motions.insert(all.motions.end(), part.motions.begin(), part.motions.end());
    }
    return all;
}

std::vector<double> errors_of(const MadeSeries& made, const FieldSeries& series, int reference) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < series.frames.size(); ++i)
        errors.push_back(error_of_field(made, series.motions[i], reference, static_cast<int>(i)));
    return errors;
}

double worst_of(const std::vector<double>& errors, std::size_t first, std::size_t last) {
    return *std::max_element(errors.begin() + static_cast<std::ptrdiff_t>(first),
                             errors.begin() + static_cast<std::ptrdiff_t>(last));
}

TEST(FieldSeries, does_not_accumulate_errors_unlike_composed_neighbour_fields) {
    const MadeSeries made = warped_series(13);
    const FieldSeries series = scanned_by_fields(made.frames, 1);
    const std::vector<double> errors = errors_of(made, series, 0);
    EXPECT_LT(worst_of(errors, 1, 13), .25);
    EXPECT_LT(worst_of(errors, 7, 13), 2 * worst_of(errors, 1, 7));
    // For comparison: motions between neighbours that are composed without refinement are less
    // accurate.
    registration::NonrigidRegistration registration(shape);
    std::vector<SplineMotion> neighbours;
    for (std::size_t i = 1; i < 13; ++i)
        neighbours.push_back(registration.find(
            made.frames[i - 1].samples(), made.frames[i].samples(), series.frames[i].from_before));
    const Displacement chained = [&](Point x) {
        for (const SplineMotion& step : neighbours)
            x = step(x);
        return x;
    };
    EXPECT_LT(1.5 * errors.back(), error_of_field(made, chained, 0, 12));
    // A rigid motion would not suffice.
    const Displacement rigid = [&](Point x) {
        return apply(series.frames[12].result.motion, x, registration::centre(shape));
    };
    EXPECT_GT(error_of_field(made, rigid, 0, 12), .5);
}

TEST(FieldSeries, follows_a_warp_far_from_any_rigid_motion) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 24;
    plan.drift = {0, -1.3, .7};
    plan.warp = 16;
    plan.warp_length = 256;
    const MadeSeries made = made_series(plan);
    const std::vector<double> errors = errors_of(made, scanned_by_fields(made.frames, 2), 0);
    EXPECT_LT(worst_of(errors, 1, 24), .45);
}

void expect_brackets_agree(const MadeSeries& made) {
    const FieldSeries alone = scanned_by_fields(made.frames, 1);
    for (const int ranks : {2, 3}) {
        const FieldSeries series = scanned_by_fields(made.frames, ranks);
        for (std::size_t i = 0; i < made.frames.size(); ++i) {
            for (const Point at : {Point{64, 50}, {30, 30}, {30, 98}, {98, 30}, {98, 98}}) {
                const Point one = alone.motions[i](at), other = series.motions[i](at);
                EXPECT_NEAR(one.x, other.x, .005) << ranks << " " << i;
                EXPECT_NEAR(one.y, other.y, .005) << ranks << " " << i;
            }
        }
    }
}

TEST(FieldSeries, on_several_ranks_agrees_with_the_serial_result_within_the_noise) {
    expect_brackets_agree(warped_series(8));
}

/// If frames move rigidly, only the rigid part of a displacement field is kept. Its rotation must
/// be computed from the frames: if it were taken from the start value, results would depend on the
/// order of association.
TEST(FieldSeries, on_several_ranks_agrees_for_frames_that_move_rigidly) {
    for (const char* specimen : {"lattice", "carbon"}) {
        SCOPED_TRACE(specimen);
        SeriesPlan plan;
        plan.shape = shape;
        plan.frames = 8;
        plan.drift = {-.1 * degree, -.8, .5};
        expect_brackets_agree(made_series(plan, specimen));
    }
}

TEST(FieldSeries, supports_a_reference_other_than_the_first_frame) {
    const MadeSeries made = warped_series(6);
    RegistrationOptions options;
    options.reference = 4;
    for (const int ranks : {1, 2}) {
        const std::vector<double> errors =
            errors_of(made, scanned_by_fields(made.frames, ranks, options), 4);
        EXPECT_LT(worst_of(errors, 0, 6), .3);
        EXPECT_LT(errors[4], .05);
    }
}

TEST(SplineMotion, nearest_rigid_motion_and_inverse_recover_a_rigid_motion) {
    const RigidMotion motion{.03, 4, -7};
    const Displacement phi = [&](Point x) { return apply(motion, x, registration::centre(shape)); };
    const RigidMotion found = registration::nearest_rigid(phi, shape);
    EXPECT_NEAR(found.alpha, motion.alpha, 1e-12);
    EXPECT_NEAR(found.tx, motion.tx, 1e-10);
    EXPECT_NEAR(found.ty, motion.ty, 1e-10);
    const Point back =
        registration::inverted(phi, {.02, 3, -6}, registration::centre(shape), phi({30, 90}));
    EXPECT_NEAR(back.x, 30, .01);
    EXPECT_NEAR(back.y, 90, .01);
}

} // namespace
} // namespace sextant::test
