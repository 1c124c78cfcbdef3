// SPDX-License-Identifier: BSD-3-Clause
// Series with faults: the truth is that of the frames.
#include "bench/faulty_series.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>

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

} // namespace
} // namespace sextant::test
