// SPDX-License-Identifier: BSD-3-Clause
// Series that drift out of the view of their first frame, and canvases of other areas.
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::PixelArea;
using registration::Work;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ImageShape side{128, 128};

/// Frames that drift by two frame widths.
const MadeSeries& drifting() {
    static const MadeSeries made = make_series(32, {}, {.05 * degree, -8, 3});
    return made;
}

SeriesRun run_of(const FramesMade& frames, int ranks, RegistrationOptions options) {
    options.reproducible = true;
    return run_series(frames, ranks, options);
}

/// The distance of two motions over the area that the frame shows.
double distance_in_frame(const RigidMotion& found, const RigidMotion& truth) {
    return rms_distance(compose(found, inverse(truth)), {}, side, central);
}

/// The RMS error of frames, without the small motion of the common reference.
double error_of(const SeriesRun& run, const MadeSeries& made) {
    const auto reference = static_cast<int>(run.result.reference);
    double squares = 0;
    for (const FrameRegistration& frame : run.result.frames) {
        const double error = distance_in_frame(
            frame.result.motion, made.series.between(reference, static_cast<int>(frame.frame)));
        squares += error * error;
    }
    return std::sqrt(squares / static_cast<double>(run.result.frames.size()));
}

TEST(LongDrift, frames_that_do_not_overlap_the_reference_are_registered_by_way_of_others) {
    const MadeSeries& made = drifting();
    for (const int stages : {1, 2}) {
        for (const std::optional<std::int64_t> reference :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(0)}) {
            RegistrationOptions options;
            options.stages = stages;
            options.reference = reference;
            const SeriesRun run = run_of(made.frames, 1, options);
            SCOPED_TRACE(testing::Message() << stages << " stages, to " << run.result.reference);
            if (reference)
                EXPECT_EQ(run.result.reference, 0);
            else
                EXPECT_NEAR(static_cast<double>(run.result.reference), 16, 2);
            for (const FrameRegistration& frame : run.result.frames) {
                EXPECT_EQ(frame.left_out, "") << frame.frame;
                EXPECT_EQ(frame.not_averaged, "") << frame.frame;
                EXPECT_FALSE(registration::in_doubt(frame)) << frame.frame;
            }
            EXPECT_LT(error_of(run, made), stages == 1 ? .5 : .25);
            EXPECT_EQ(run.worked.contains(Work::station), stages == 2);
        }
    }
}

TEST(LongDrift, deviations_explain_the_errors_of_frames_relative_to_the_reference) {
    const MadeSeries& made = drifting();
    for (const int stages : {1, 2}) {
        RegistrationOptions options;
        options.stages = stages;
        const SeriesRun run = run_of(made.frames, 1, options);
        const auto uncertain = [&](std::int64_t frame) {
            const auto& found = run.result.frames[static_cast<std::size_t>(frame)].result;
            return registration::UncertainMotion{found.motion, found.uncertainty.covariance};
        };
        const auto from_reference = inverse(uncertain(run.result.reference));
        double squares = 0, count = 0;
        for (const FrameRegistration& frame : run.result.frames) {
            if (frame.frame == run.result.reference)
                continue;
            const RigidMotion truth = made.series.between(static_cast<int>(run.result.reference),
                                                          static_cast<int>(frame.frame));
            const auto found = compose(uncertain(frame.frame), from_reference);
            squares += std::pow(found.motion.tx - truth.tx, 2) / found.covariance[4] +
                       std::pow(found.motion.ty - truth.ty, 2) / found.covariance[8];
            count += 2;
        }
        EXPECT_GT(std::sqrt(squares / count), .4) << stages;
        EXPECT_LT(std::sqrt(squares / count), 1.6) << stages;
    }
}

TEST(LongDrift, motions_are_the_same_on_any_number_of_ranks_and_threads) {
    const MadeSeries& made = drifting();
    const SeriesRun alone = run_of(made.frames, 1, {});
    for (const int ranks : {2, 3, 40}) {
        const SeriesRun run = run_of(made.frames, ranks, {});
        EXPECT_EQ(run.result.reference, alone.result.reference);
        for (std::size_t i = 0; i < made.frames.size(); ++i)
            EXPECT_LT(distance_in_frame(run.result.frames[i].result.motion,
                                        alone.result.frames[i].result.motion),
                      .005)
                << i << " on " << ranks;
    }
    RegistrationOptions options;
    options.threads = 2;
    options.thread_work = ThreadWork::frames;
    const SeriesRun threads = run_of(made.frames, 1, options);
    for (std::size_t i = 0; i < made.frames.size(); ++i)
        EXPECT_EQ(threads.result.frames[i].result.motion, alone.result.frames[i].result.motion);
    EXPECT_EQ(threads.result.average.mean, alone.result.average.mean);
}

TEST(LongDrift, a_canvas_of_all_frames_shows_the_whole_specimen) {
    const MadeSeries& made = drifting();
    const SeriesRun small = run_of(made.frames, 1, {});
    EXPECT_EQ(small.result.canvas, registration::area_of(side));
    RegistrationOptions options;
    options.canvas = Canvas::united;
    for (const int ranks : {1, 3}) {
        const SeriesRun run = run_of(made.frames, ranks, options);
        const PixelArea& canvas = run.result.canvas;
        EXPECT_GT(canvas.shape.width, 350);
        EXPECT_GT(canvas.shape.height, 200);
        EXPECT_TRUE(contains(canvas, registration::area_of(side)));
        ASSERT_EQ(static_cast<Elements>(run.result.average.mean.size()), canvas.shape.elements());
        double samples = 0;
        for (const float count : run.result.average.count)
            samples += static_cast<double>(count);
        double aligned = 0;
        for (const auto& [frame, pixels] : run.aligned) {
            EXPECT_EQ(static_cast<Elements>(pixels.size()), canvas.shape.elements());
            const auto covered = std::count_if(pixels.begin(), pixels.end(),
                                               [](float pixel) { return !std::isnan(pixel); });
            EXPECT_GT(covered, side.elements() * 9 / 10)
                << "no part of frame " << frame << " is cut";
            aligned += static_cast<double>(covered);
        }
        EXPECT_EQ(samples, aligned);
        if (ranks > 1)
            continue;
        for (std::int64_t y = 0; y < side.height; ++y) {
            for (std::int64_t x = 0; x < side.width; ++x)
                ASSERT_EQ(run.result.average.mean[static_cast<std::size_t>(
                              (y - canvas.y) * canvas.shape.width + x - canvas.x)],
                          small.result.average.mean[static_cast<std::size_t>(y * side.width + x)]);
        }
    }
}

TEST(LongDrift, a_common_canvas_has_no_pixel_without_data) {
    const MadeSeries made = make_series(6);
    RegistrationOptions options;
    options.canvas = Canvas::common;
    const SeriesRun run = run_of(made.frames, 2, options);
    EXPECT_LT(run.result.canvas.shape.elements(), side.elements());
    EXPECT_GT(run.result.canvas.shape.elements(), side.elements() / 2);
    for (const float count : run.result.average.count)
        ASSERT_EQ(count, 6);
    EXPECT_THAT(run.result.warnings, IsEmpty());
    const SeriesRun none = run_of(drifting().frames, 2, options);
    EXPECT_EQ(none.result.canvas, registration::area_of(side));
    EXPECT_THAT(none.result.warnings,
                Contains(HasSubstr("canvas common: no pixel is covered by all frames")));
}

TEST(LongDrift, families_of_motions_are_fitted_to_frames_far_from_the_reference) {
    const MadeSeries& made = drifting();
    for (const MotionModel model : {MotionModel::similarity, MotionModel::affine}) {
        RegistrationOptions options;
        options.model = model;
        const SeriesRun run = run_of(made.frames, 2, options);
        for (const FrameRegistration& frame : run.result.frames) {
            EXPECT_EQ(frame.left_out, "");
            ASSERT_TRUE(frame.affine);
            const registration::AffineMotion truth = as_affine(made.series.between(
                static_cast<int>(run.result.reference), static_cast<int>(frame.frame)));
            EXPECT_LT(rms_distance(compose(*frame.affine, inverse(truth)),
                                   registration::AffineMotion(), side, central),
                      1)
                << frame.frame;
        }
    }
}

TEST(LongDrift, displacement_fields_refer_to_the_middle_of_the_motion) {
    const MadeSeries made = make_series(14, {}, {0, -7, 3});
    RegistrationOptions options;
    options.model = MotionModel::nonrigid;
    for (const int ranks : {1, 3}) {
        const SeriesRun run = run_of(made.frames, ranks, options);
        EXPECT_NEAR(static_cast<double>(run.result.reference), 6.5, 1.6);
        EXPECT_THAT(run.result.reference_reason, HasSubstr("in the middle of a drift"));
        for (const FrameRegistration& frame : run.result.frames) {
            EXPECT_EQ(frame.left_out, "") << frame.frame;
            EXPECT_FALSE(frame.result.unrelated) << frame.frame;
            EXPECT_LT(distance_in_frame(frame.result.motion,
                                        made.series.between(static_cast<int>(run.result.reference),
                                                            static_cast<int>(frame.frame))),
                      2)
                << frame.frame;
        }
    }
}

TEST(LongDrift, displacement_fields_refuse_a_canvas_of_all_frames) {
    RegistrationOptions options;
    options.model = MotionModel::nonrigid;
    options.canvas = Canvas::united;
    EXPECT_THAT([&] { run_of(make_series(3).frames, 2, options); },
                testing::ThrowsMessage<AgreedFailure>(HasSubstr("canvas union: displacement")));
}

/// Also if the reference is the base of the last segment, which is the base of no other base.
TEST(LongDrift, may_have_any_frame_as_reference) {
    const MadeSeries made = make_series(9, {}, {0, 40, 1});
    for (std::int64_t reference = 0; reference < 9; ++reference) {
        RegistrationOptions options;
        options.reference = reference;
        options.stages = 1;
        const RegistrationResult result =
            registration_of([&] { return std::make_unique<MadeSource>(made.frames); }, 2, options);
        for (const FrameRegistration& frame : result.frames) {
            ASSERT_EQ(frame.left_out, "") << reference;
            const RigidMotion truth =
                made.series.between(static_cast<int>(reference), static_cast<int>(frame.frame));
            EXPECT_NEAR(frame.result.motion.tx, truth.tx, 1) << reference << " " << frame.frame;
            EXPECT_NEAR(frame.result.motion.ty, truth.ty, 1) << reference << " " << frame.frame;
        }
    }
}

} // namespace
} // namespace sextant::test
