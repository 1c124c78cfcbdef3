// SPDX-License-Identifier: BSD-3-Clause
// Synthetic series: motions, counts, blank frames, and reproducibility from a seed.
#include "sextant/registration/synthetic.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::NoiseSource;
using registration::Point;
using registration::SeriesPlan;
using registration::SyntheticSeries;
using testing::HasSubstr;
using testing::ThrowsMessage;

SeriesPlan drifting() {
    SeriesPlan plan;
    plan.shape = {40, 30};
    plan.frames = 4;
    plan.drift = {.02, 1.25, -.5};
    return plan;
}

/// A brightness ramp that rises to the right and downward, so that a sample identifies its
/// position.
double slope(Point at) {
    return 2 + .01 * at.x + .0001 * at.y;
}

TEST(Noise, has_the_mean_and_variance_of_its_distribution) {
    for (const double mean : {.2, 3., 20., 150., 1000.}) {
        NoiseSource noise(5, 0);
        double sum = 0, squares = 0;
        constexpr int samples = 20000;
        for (int k = 0; k < samples; ++k) {
            const double count = noise.poisson(mean);
            ASSERT_GE(count, 0);
            ASSERT_EQ(count, std::floor(count));
            sum += count;
            squares += (count - mean) * (count - mean);
        }
        EXPECT_NEAR(sum / samples, mean, 5 * std::sqrt(mean / samples));
        EXPECT_NEAR(squares / samples / mean, 1, .06 + .5 / std::sqrt(mean * samples)) << mean;
    }
}

TEST(Noise, is_zero_for_a_dose_of_zero) {
    NoiseSource noise(1, 1);
    for (int k = 0; k < 100; ++k)
        EXPECT_EQ(noise.poisson(0), 0);
}

TEST(Synthetic, frames_show_the_specimen_displaced_by_the_stated_motion) {
    const SyntheticSeries series(drifting(), slope);
    const Point c = registration::centre({40, 30});
    for (int frame = 0; frame < 4; ++frame) {
        const kernel::FloatPlane image = series.expected(frame);
        for (const Point at : {Point{0, 0}, {39, 0}, {17, 29}}) {
            const Point seen = apply(inverse(series.motion(frame)), at, c);
            EXPECT_NEAR(image.image().at(static_cast<Elements>(at.x), static_cast<Elements>(at.y)),
                        10 * slope({seen.x - c.x, seen.y - c.y}), 1e-5);
        }
    }
}

TEST(Synthetic, a_frame_resampled_by_the_relative_motion_equals_the_other_frame) {
    const SyntheticSeries series(drifting(), slope);
    const Point c = registration::centre({40, 30});
    const Point x{12, 20};
    const Point there = apply(series.between(1, 3), x, c);
    const Point a = series.position(1, x), b = series.position(3, there);
    EXPECT_NEAR(a.x, b.x, 1e-12);
    EXPECT_NEAR(a.y, b.y, 1e-12);
}

TEST(Synthetic, the_same_plan_gives_the_same_frames_in_any_order) {
    SeriesPlan plan = drifting();
    plan.wander = 2;
    const SyntheticSeries one(plan, slope), other(plan, slope);
    const kernel::FloatPlane last = one.counted(3);
    other.counted(1);
    const kernel::FloatPlane again = other.counted(3), before = other.counted(2);
    int different = 0;
    for (Elements y = 0; y < 30; ++y) {
        for (Elements x = 0; x < 40; ++x) {
            EXPECT_EQ(last.image().at(x, y), again.image().at(x, y));
            different += last.image().at(x, y) != before.image().at(x, y);
        }
    }
    EXPECT_GT(different, 500) << "each frame has noise of its own";
}

TEST(Synthetic, jumps_are_permanent_and_blank_frames_show_no_specimen) {
    SeriesPlan plan = drifting();
    plan.jumps = {{2, 20, -10}};
    plan.blanks = {1};
    const SyntheticSeries series(plan, slope);
    EXPECT_DOUBLE_EQ(series.motion(1).tx, 1.25);
    EXPECT_DOUBLE_EQ(series.motion(2).tx, 22.5);
    EXPECT_DOUBLE_EQ(series.motion(3).ty, -11.5);
    const kernel::FloatPlane blank = series.expected(1);
    EXPECT_EQ(blank.image().at(0, 0), blank.image().at(39, 29));
    EXPECT_LT(blank.image().at(0, 0), 1);
}

TEST(Synthetic, a_warp_grows_linearly_from_zero_to_its_amplitude) {
    SeriesPlan plan = drifting();
    plan.drift = {};
    plan.warp = 3;
    plan.warp_length = 40;
    const SyntheticSeries series(plan, slope);
    EXPECT_EQ(series.position(0, {7, 9}), (Point{7, 9}));
    double largest = 0;
    for (double y = 0; y < 30; ++y) {
        for (double x = 0; x < 40; ++x) {
            largest = std::max(largest, std::abs(series.position(3, {x, y}).x - x));
            EXPECT_NEAR(series.position(1, {x, y}).x - x, (series.position(3, {x, y}).x - x) / 3,
                        1e-12);
        }
    }
    EXPECT_NEAR(largest, 3, .05);
}

TEST(Synthetic, every_specimen_has_the_requested_brightness_and_contrast) {
    for (const registration::SpecimenKind& kind : registration::specimens()) {
        const registration::Specimen specimen = kind.make({.field = {300, 260}, .contrast = .2});
        double sum = 0, squares = 0;
        constexpr int count = 260 * 220;
        for (int y = -110; y < 110; ++y) {
            for (int x = -130; x < 130; ++x) {
                const double seen = specimen({x + .5, y + .5});
                sum += seen / count;
                squares += seen * seen / count;
            }
        }
        EXPECT_NEAR(sum, 1, .03) << kind.name;
        EXPECT_NEAR(std::sqrt(squares - sum * sum), .2, .07) << kind.name;
    }
}

TEST(Synthetic, an_image_becomes_a_specimen_of_mean_brightness_1) {
    kernel::FloatPlane image({9, 9});
    for (Elements y = 0; y < 9; ++y)
        std::fill_n(image.row(y), 9, 50.F);
    const registration::Specimen specimen = registration::specimen_of(image.image());
    for (const Point at : {Point{0, 0}, {1.3, -2.6}, {-400, 3}})
        EXPECT_NEAR(specimen(at), 1, 1e-6);
    const kernel::FloatPlane dark({4, 4});
    EXPECT_THAT([&] { registration::specimen_of(dark.image()); },
                ThrowsMessage<InvalidTask>(HasSubstr("is 0, expected more than 0")));
}

TEST(Synthetic, invalid_plans_are_refused) {
    const auto refused = [](auto change, const char* message) {
        SeriesPlan plan = drifting();
        change(plan);
        EXPECT_THAT([&] { SyntheticSeries(plan, slope); },
                    ThrowsMessage<InvalidTask>(HasSubstr(message)));
    };
    refused([](SeriesPlan& plan) { plan.frames = 0; }, "0 frames");
    refused([](SeriesPlan& plan) { plan.dose = -1; }, "the dose is -1");
    refused([](SeriesPlan& plan) { plan.blanks = {4}; },
            "blank at frame 4: expected a frame from 0 to 3");
    refused([](SeriesPlan& plan) { plan.jumps = {{-1, 0, 0}}; }, "jump at frame -1");
    refused([](SeriesPlan& plan) { plan.jumps = {{0, 5, 0}}; }, "jump before frame 0");
    EXPECT_THAT([] { registration::find_specimen("gold"); },
                ThrowsMessage<InvalidTask>(HasSubstr("lattice, carbon, particles")));
}

} // namespace
} // namespace sextant::test
