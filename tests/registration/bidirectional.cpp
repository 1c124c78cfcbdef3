// SPDX-License-Identifier: BSD-3-Clause
// Bidirectional scans, whose odd rows are displaced: recognised, measured and corrected.
#include "sextant/registration/correct/bidirectional.hpp"

#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <numbers>

#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::RowShift;
using registration::RowShiftMeter;
using registration::Specimen;

constexpr ImageShape shape{128, 128};

Specimen stripes(double period) {
    return [period](Point at) { return 1 + .5 * std::sin(2 * std::numbers::pi * at.x / period); };
}

Specimen specimen_named(std::string_view kind, std::uint64_t seed) {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = 8;
    plan.drift = {0, 2, 1.5};
    if (kind == "stripes")
        return stripes(9 + static_cast<double>(seed % 5));
    if (kind == "nothing")
        return [](Point) { return 1.; };
    return specimen_of(plan, kind, seed, 16);
}

/// Frames of a drifting specimen whose odd rows are displaced to the right, with random jitter of
/// all rows.
FramesMade scanned_frames(const Specimen& specimen, double displacement, std::uint64_t seed,
                          int frames = 4, double dose = 10, double jitter = 0) {
    const Point c = registration::centre(shape);
    registration::NoiseSource noise(seed, 5);
    FramesMade all;
    for (int frame = 0; frame < frames; ++frame) {
        kernel::FloatPlane& plane = all.emplace_back(shape);
        for (Elements y = 0; y < shape.height; ++y) {
            const double moved =
                2. * frame + (y % 2 == 1 ? displacement : 0) + jitter * noise.normal();
            for (Elements x = 0; x < shape.width; ++x)
                plane.row(y)[x] = static_cast<float>(noise.poisson(
                    dose * std::max(0., specimen({static_cast<double>(x) - c.x - moved,
                                                  static_cast<double>(y) - c.y - 1.5 * frame}))));
        }
    }
    return all;
}

std::vector<float> samples_of(const kernel::FloatPlane& plane) {
    std::vector<float> samples;
    for (Elements y = 0; y < plane.shape().height; ++y)
        samples.insert(samples.end(), plane.image().row(y),
                       plane.image().row(y) + plane.shape().width);
    return samples;
}

std::optional<RowShift> measured(const FramesMade& frames) {
    RowShiftMeter meter(shape);
    for (const kernel::FloatPlane& frame : frames)
        meter.add(samples_of(frame));
    return meter.displacement();
}

TEST(Bidirectional, displacements_of_odd_rows_are_measured) {
    for (const char* kind : {"lattice", "carbon", "particles"}) {
        const Specimen specimen = specimen_named(kind, 3);
        // Sparse particles do not determine small displacements.
        for (const double displacement : {kind[0] == 'p' ? 1.6 : .8, -2.3, 7.5}) {
            const auto found = measured(scanned_frames(specimen, displacement, 1, 4, 40));
            ASSERT_TRUE(found) << kind << " " << displacement;
            EXPECT_NEAR(found->shift, displacement, .02 + 4 * found->sigma) << kind;
            EXPECT_LT(found->sigma, kind[0] == 'p' ? .3 : .1) << kind;
        }
    }
}

TEST(Bidirectional, ordinary_series_are_not_taken_for_bidirectional_ones) {
    for (const char* kind : {"lattice", "carbon", "particles", "stripes", "nothing"}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const FramesMade frames =
                scanned_frames(specimen_named(kind, seed), 0, seed, 4, seed % 2 == 0 ? 2 : 50,
                               seed % 4 == 0 ? .7 : 0);
            EXPECT_FALSE(measured(frames)) << kind << " " << seed;
        }
    }
    // The displacement of vertical stripes is known up to multiples of their period.
    const auto found = measured(scanned_frames(stripes(12), 2, 1));
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->shift, 2, .1);
}

TEST(Bidirectional, rows_are_moved_back_and_gaps_do_not_spread) {
    constexpr Elements width = 32;
    std::vector<float> samples(3 * width);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<float>(i % width);
    samples[width + 20] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> whole = samples, half = samples;
    registration::with_aligned_rows(2, width)(0, {0, 3}, whole);
    registration::with_aligned_rows(-.5, width)(0, {0, 3}, half);
    for (std::size_t x = 0; x < width; ++x) {
        EXPECT_EQ(whole[x], samples[x]);
        EXPECT_EQ(whole[2 * width + x], samples[x]);
        EXPECT_EQ(std::isnan(whole[width + x]), x == 18 || x >= 30) << x;
        EXPECT_EQ(std::isnan(half[width + x]), x == 0 || x == 20 || x == 21) << x;
        if (!std::isnan(whole[width + x])) {
            EXPECT_NEAR(whole[width + x], static_cast<float>(x + 2), 1e-4);
        }
        if (!std::isnan(half[width + x])) {
            EXPECT_NEAR(half[width + x], static_cast<float>(x) - .5f, .1f);
        }
    }
    std::vector<float> alone(samples.begin() + width, samples.begin() + 2 * width);
    registration::with_aligned_rows(2, width)(0, {1, 2}, alone); // a block of rows
    for (std::size_t x = 0; x < 18; ++x)
        EXPECT_EQ(alone[x], whole[width + x]);
}

TEST(Bidirectional, series_are_corrected_on_any_number_of_ranks) {
    const FramesMade plain = scanned_frames(specimen_named("carbon", 2), 0, 7, 6);
    const FramesMade displaced = scanned_frames(specimen_named("carbon", 2), 3.25, 7, 6);
    const auto registered = [](const FramesMade& frames, int ranks,
                               const RegistrationOptions& options = {}) {
        return registration_of([&] { return std::make_unique<MadeSource>(frames); }, ranks,
                               options);
    };
    const RegistrationResult usual = registered(plain, 1);
    EXPECT_FALSE(usual.bidirectional);
    RegistrationOptions options;
    options.reproducible = true;
    RegistrationOptions given = options;
    given.bidirectional.shift = 3.25;
    for (const RegistrationResult& result :
         {registered(displaced, 1, options), registered(displaced, 3, options),
          registered(displaced, 2, given)}) {
        ASSERT_TRUE(result.bidirectional);
        EXPECT_NEAR(result.bidirectional->shift, 3.25, .1);
        for (const FrameRegistration& frame : result.frames) {
            EXPECT_FALSE(registration::in_doubt(frame));
            const RigidMotion truth{0, 2. * static_cast<double>(frame.frame),
                                    1.5 * static_cast<double>(frame.frame)};
            const RigidMotion found =
                compose(frame.result.motion, inverse(result.frames[0].result.motion));
            EXPECT_LT(registration::rms_distance(found, truth, shape, central), .3) << frame.frame;
        }
        double difference = 0;
        int count = 0;
        for (std::size_t i = 0; i < usual.average.mean.size(); ++i) {
            if (result.average.count[i] < 6 || usual.average.count[i] < 6)
                continue;
            difference += std::pow(result.average.mean[i] - usual.average.mean[i], 2);
            ++count;
        }
        EXPECT_LT(std::sqrt(difference / count), 2.2); // the noise of averages of 6 frames: 1.3
    }
    options.bidirectional.enabled = false;
    EXPECT_FALSE(registered(displaced, 1, options).bidirectional);
}

} // namespace
} // namespace sextant::test
