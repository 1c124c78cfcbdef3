// SPDX-License-Identifier: BSD-3-Clause
// Displacement fields between small frames; larger frames are tested in long/nonrigid.cpp.
#include "sextant/core/error.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/synthetic.hpp"

#include "tests/registration/warps.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

TEST(Nonrigid, finds_smooth_warps_of_noisy_frames_of_every_specimen) {
    for (const char* specimen : {"waves", "lattice of waves", "lattice", "carbon"}) {
        for (const unsigned seed : {1u, 2u}) {
            WarpTrial trial;
            trial.specimen = specimen;
            trial.seed = seed;
            const WarpOutcome outcome = run(trial);
            SCOPED_TRACE(std::string(specimen) + ": " + outcome.text());
            EXPECT_LT(outcome.error, .25);
            EXPECT_LT(outcome.error, outcome.error_of_start / 4);
            EXPECT_GT(outcome.result.fit.ncc_after, outcome.result.fit.ncc_before);
        }
    }
}

TEST(Nonrigid, finds_the_warp_of_sparse_particles) {
    for (const unsigned seed : {1u, 2u}) {
        WarpTrial trial;
        trial.specimen = "particles";
        trial.seed = seed;
        const WarpOutcome outcome = run(trial);
        SCOPED_TRACE(outcome.text());
        EXPECT_LT(outcome.error, .4);
        EXPECT_LT(outcome.error, outcome.error_of_start / 2);
    }
}

/// At this dose, hardly any tile of a frame shows more than noise.
TEST(Nonrigid, keeps_its_start_if_frames_show_only_noise) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
        WarpTrial trial;
        trial.specimen = "particles";
        trial.shape = {512, 512};
        trial.dose = .5;
        trial.seed = seed;
        const WarpOutcome outcome = run(trial);
        SCOPED_TRACE(outcome.text());
        EXPECT_LT(outcome.error, outcome.error_of_start + .4);
    }
}

TEST(Nonrigid, does_not_mistake_warps_of_short_wavelength_for_rigid_motions) {
    for (const char* specimen : {"waves", "lattice of waves"}) {
        WarpTrial trial;
        trial.specimen = specimen;
        trial.length = 120;
        trial.amplitude = .6;
        const WarpOutcome outcome = run(trial);
        SCOPED_TRACE(std::string(specimen) + ": " + outcome.text());
        EXPECT_TRUE(outcome.result.refined);
        EXPECT_GT(outcome.result.fit.freedom, 30);
        EXPECT_LT(outcome.error, outcome.error_of_start / 2);
    }
}

TEST(Nonrigid, hardly_changes_rigid_motions) {
    WarpTrial trial;
    trial.amplitude = 0;
    const WarpOutcome outcome = run(trial);
    SCOPED_TRACE(outcome.text());
    EXPECT_LT(outcome.error, .06);
    EXPECT_FALSE(outcome.result.refined);
}

TEST(Nonrigid, predicts_the_errors_of_its_displacement_field) {
    for (const char* specimen : {"waves", "lattice of waves"}) {
        double squares = 0;
        for (unsigned seed = 1; seed <= 4; ++seed) {
            WarpTrial trial;
            trial.specimen = specimen;
            trial.seed = seed;
            squares += std::pow(run(trial).z, 2);
        }
        EXPECT_GT(std::sqrt(squares / 4), .75) << specimen;
        EXPECT_LT(std::sqrt(squares / 4), 1.3) << specimen;
    }
}

TEST(Nonrigid, accepts_frames_of_any_aspect_ratio_and_parity) {
    for (const ImageShape shape : {ImageShape{331, 190}, {97, 260}, {64, 64}, {17, 40}}) {
        WarpTrial trial;
        trial.shape = shape;
        trial.dose = 40;
        trial.length = 500;
        const WarpOutcome outcome = run(trial);
        SCOPED_TRACE(fmt::format("{}x{}: {}", shape.width, shape.height, outcome.text()));
        EXPECT_LT(outcome.error, outcome.error_of_start / (shape.elements() > 4096 ? 4 : 1));
    }
}

TEST(Nonrigid, follows_rotated_frames) {
    const ImageShape shape{256, 256};
    const RigidMotion turn{.7, 3, -2};
    const Motion truth = warp(shape, 400, 1.6, turn);
    const WarpedPair pair = exposed_pair(Specimen::amorphous(3), shape, truth, 10, 1);
    NonrigidRegistration registration(shape);
    const auto& found = registration.run(pair.reference.view(), pair.templ.view(), turn);
    EXPECT_LT(found.fit.overlap, .9);
    EXPECT_LT(rms_distance(found.field, dense(truth, shape), .6), .2);
    // The corners of the reference are outside the template, where the field is extrapolated.
    const DisplacementField& field = found.field;
    for (std::size_t i = 0; i < field.count(); ++i) {
        const Point at{static_cast<double>(static_cast<std::int64_t>(i) % field.nodes.width * 8),
                       static_cast<double>(static_cast<std::int64_t>(i) / field.nodes.width * 8)};
        const Point to = truth(at);
        constexpr double cell = 8 * 1.5; // longer because the cells are rotated
        const double outside = std::max({-to.x, -to.y, to.x - 255, to.y - 255});
        if (outside > cell) {
            EXPECT_FALSE(field.known[i]) << at.x << ", " << at.y;
        } else if (outside < -cell) {
            EXPECT_TRUE(field.known[i]) << at.x << ", " << at.y;
        }
    }
    EXPECT_LT(rms_distance(field, dense(truth, shape)), .3) << "at known nodes";
}

TEST(Nonrigid, marks_regions_of_noise_as_unknown) {
    const ImageShape shape{256, 256};
    const Motion truth = warp(shape, 400, 1.6, start_of_warps);
    const auto specimen = Specimen::amorphous(5).with_vacuum_from(150);
    const WarpedPair pair = exposed_pair(specimen, shape, truth, 10, 1);
    NonrigidRegistration registration(shape);
    const DisplacementField& field =
        registration.run(pair.reference.view(), pair.templ.view(), start_of_warps).field;
    double within = 0, beyond = 0;
    for (std::size_t i = 0; i < field.count(); ++i) {
        const auto x = static_cast<std::int64_t>(i) % field.nodes.width * 8;
        if (x <= 128) {
            EXPECT_TRUE(field.known[i]) << x;
            within = std::max(within, static_cast<double>(field.sigma[i]));
        } else if (x >= 192) {
            EXPECT_FALSE(field.known[i]) << x;
            beyond = std::max(beyond, static_cast<double>(field.sigma[i]));
        }
    }
    EXPECT_GT(beyond, 2 * within) << "extrapolation is less certain";
    EXPECT_LT(rms_distance(field, dense(truth, shape), .88), .2);
}

TEST(Nonrigid, the_noise_of_an_average_of_resampled_frames_is_known) {
    // Interpolation between pixels removes most of what the estimate of the noise is based on.
    constexpr ImageShape shape{128, 128};
    constexpr int frames = 24;
    registration::NoiseSource noise(3, 0);
    kernel::FloatPlane average(shape), frame({shape.width + 1, shape.height + 1});
    for (int i = 0; i < frames; ++i) {
        for (Elements y = 0; y <= shape.height; ++y) {
            for (Elements x = 0; x <= shape.width; ++x)
                frame.row(y)[x] = static_cast<float>(noise.normal());
        }
        const auto u = static_cast<float>(noise.uniform()), v = static_cast<float>(noise.uniform());
        for (Elements y = 0; y < shape.height; ++y) {
            const float *const above = frame.row(y), *const below = frame.row(y + 1);
            for (Elements x = 0; x < shape.width; ++x) {
                const float high = (1 - u) * above[x] + u * above[x + 1];
                const float low = (1 - u) * below[x] + u * below[x + 1];
                average.row(y)[x] += (1 - v) * high + v * low;
            }
        }
    }
    const auto mean_signal = [&](bool of_average) {
        registration::PairPyramid pyramid(shape, registration::usual_prefilter, 1);
        pyramid.fill(average.samples(), average.samples(), of_average);
        double sum = 0, count = 0;
        for (Elements y = 0; y < shape.height; y += 8) {
            for (Elements x = 0; x < shape.width; x += 8) {
                sum += pyramid.informative().signal(x, y);
                ++count;
            }
        }
        return sum / count;
    };
    EXPECT_LT(mean_signal(true), .1);
    EXPECT_GT(mean_signal(false), .5);
}

TEST(Nonrigid, returns_the_initial_motion_with_all_nodes_unknown_for_frames_of_noise) {
    const ImageShape shape{128, 96};
    const WarpedPair pair =
        exposed_pair([](Point) { return 1.; }, shape, warp(shape, 400, 0, start_of_warps), 10, 1);
    NonrigidRegistration registration(shape);
    const auto& found = registration.run(pair.reference.view(), pair.templ.view(), start_of_warps);
    const DisplacementField& field = found.field;
    EXPECT_LT(rms_distance(registration::as_field(start_of_warps, shape, 8),
                           {field.image, field.spacing, field.nodes, field.x, field.y, {}, {}}),
              1e-4);
    for (std::size_t i = 0; i < field.count(); ++i) {
        ASSERT_FALSE(field.known[i]);
        ASSERT_TRUE(std::isinf(field.sigma[i]));
    }
}

TEST(Nonrigid, gives_the_same_field_every_time_and_for_any_sample_type) {
    const ImageShape shape{120, 100};
    const Motion truth = warp(shape, 300, 1, start_of_warps);
    const WarpedPair pair = exposed_pair(Specimen::amorphous(2), shape, truth, 30, 4);
    NonrigidRegistration registration(shape);
    const auto first =
        registration.run(pair.reference.view(), pair.templ.view(), start_of_warps).field;
    const auto counts = [&](const WarpedFrame& frame) {
        return std::vector<std::uint16_t>(frame.samples.begin(), frame.samples.end());
    };
    const auto reference = counts(pair.reference), templ = counts(pair.templ);
    SampleView of_reference = pair.reference.view(), of_template = of_reference;
    of_reference.first = reference.data();
    of_template.first = templ.data();
    const auto& again = registration.run(of_reference, of_template, start_of_warps).field;
    EXPECT_EQ(again.x, first.x);
    EXPECT_EQ(again.y, first.y);
    EXPECT_EQ(again.sigma, first.sigma);
}

TEST(Nonrigid, reports_why_a_frame_is_unusable) {
    const ImageShape shape{40, 32};
    const WarpedFrame good = frame_of(shape, Specimen::amorphous(1));
    const WarpedFrame constant = frame_of(shape, [](Point) { return 4.; });
    WarpedFrame odd = good;
    std::fill(odd.samples.begin(), odd.samples.end(), std::nanf(""));
    NonrigidRegistration registration(shape);
    const auto complaint = [&](const WarpedFrame& reference, const WarpedFrame& templ) {
        return test::message_of<Error>(
            [&] { registration.run(reference.view(), templ.view(), {}); });
    };
    EXPECT_THAT(complaint(good, constant), HasSubstr("the template: every sample is 4"));
    EXPECT_THAT(complaint(odd, good), HasSubstr("the reference: none of the 1280 samples"));
    EXPECT_THAT(complaint(frame_of({40, 30}, Specimen::amorphous(1)), good),
                HasSubstr("the reference: the frame has 40x30 pixels, expected 40x32"));
    EXPECT_EQ(complaint(good, good), "");
    EXPECT_THROW(NonrigidRegistration({15, 40}), InvalidTask);
}

TEST(Nonrigid, terminates_for_unrelated_frames) {
    const ImageShape shape{96, 80};
    const WarpedFrame a = frame_of(shape, Specimen::amorphous(1));
    const WarpedFrame b = frame_of(shape, Specimen::amorphous(2));
    NonrigidRegistration registration(shape);
    for (const RigidMotion& start : {RigidMotion{}, {0, 300, 0}, {3, 0, 0}}) {
        const auto& found = registration.run(a.view(), b.view(), start);
        for (std::size_t i = 0; i < found.field.count(); ++i) {
            ASSERT_TRUE(std::isfinite(found.field.x[i]));
            ASSERT_TRUE(std::isfinite(found.field.y[i]));
        }
    }
}

} // namespace
} // namespace sextant::test
