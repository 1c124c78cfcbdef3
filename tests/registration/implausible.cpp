// SPDX-License-Identifier: BSD-3-Clause
// Motions outside the range of the search, and motions at which frames are less similar than
// without them, are never reported without a flag.
#include "sextant/registration/pair/level.hpp"

#include <cmath>
#include <numbers>

#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr ImageShape shape{256, 256};

/// Frames without noise, each sheared by 4 % more than the frame before it. No rigid
/// motion describes the later frames.
FramesMade sheared_frames(const char* kind, std::uint64_t seed, int frames) {
    SeriesPlan plan;
    plan.shape = shape;
    const registration::Specimen specimen = specimen_of(plan, kind, seed, 64);
    const Point c = registration::centre(shape);
    FramesMade all;
    for (int frame = 0; frame < frames; ++frame) {
        kernel::FloatPlane& plane = all.emplace_back(shape);
        for (Elements y = 0; y < shape.height; ++y) {
            for (Elements x = 0; x < shape.width; ++x) {
                const double down = static_cast<double>(y) - c.y;
                plane.row(y)[x] = static_cast<float>(
                    10 * specimen({static_cast<double>(x) - c.x + .04 * frame * down, down}));
            }
        }
    }
    return all;
}

TEST(Implausible, the_nccs_of_noise_do_not_differ) {
    EXPECT_FALSE(registration::is_lower_ncc(.5, .52, 192. * 192, 1.5));
    EXPECT_TRUE(registration::is_lower_ncc(.3, .7, 192. * 192, 1.5));
    EXPECT_FALSE(registration::is_lower_ncc(.3, .7, 256, 1.5)); // few pixels
    EXPECT_FALSE(registration::is_lower_ncc(.99, 1, 1e6, 1.5)); // almost equal images
}

/// As in a scan, each frame starts at the motion of the frame before it.
TEST(Implausible, a_refinement_never_ends_less_similar_than_its_start) {
    int restored = 0;
    Registrar registrar(shape);
    registration::RigidOptions stay;
    stay.most_steps = 0;
    registration::RigidRegistration at_start(shape, 0, stay);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const FramesMade frames = sheared_frames(seed % 2 == 0 ? "carbon" : "particles", seed, 9);
        registrar.reference.fill(frames[0].samples());
        RigidMotion start;
        for (std::size_t i = 1; i < frames.size(); ++i) {
            start.alpha -= 1.15 * degree; // half of the shear
            registrar.moved.fill(frames[i].samples());
            const double before =
                at_start.refine(registrar.reference, registrar.moved, start).ncc_after;
            const RigidResult found =
                registrar.registration.refine(registrar.reference, registrar.moved, start);
            restored += found.motion == start && !found.converged;
            EXPECT_GT(found.ncc_after, before - .15) << seed << " " << i;
            start = found.motion;
        }
    }
    EXPECT_GT(restored, 0);
}

TEST(Implausible, motions_of_sheared_frames_are_plausible_or_flagged) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const FramesMade frames = sheared_frames("lattice", seed, 7);
        const RegistrationResult result =
            registration_of([&] { return std::make_unique<MadeSource>(frames); }, 2);
        const RigidMotion of_reference =
            result.frames[static_cast<std::size_t>(result.reference)].result.motion;
        for (const FrameRegistration& frame : result.frames) {
            if (!frame.left_out.empty() || registration::in_doubt(frame))
                continue;
            const auto steps = static_cast<double>(std::abs(frame.frame - result.reference));
            EXPECT_GT(frame.result.ncc_after, frame.result.ncc_before - .15) << seed;
            const double turned = frame.result.motion.alpha - of_reference.alpha;
            EXPECT_LE(std::abs(turned), 3 * steps * degree) << seed;
        }
    }
}

/// Vertical stripes do not determine the motion along them.
TEST(Implausible, motions_that_frames_do_not_determine_are_finite) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        registration::NoiseSource noise(seed, 3);
        FramesMade frames;
        for (int frame = 0; frame < 4; ++frame) {
            kernel::FloatPlane& plane = frames.emplace_back(ImageShape{128, 128});
            const double moved = 2 * noise.normal();
            for (Elements y = 0; y < 128; ++y) {
                for (Elements x = 0; x < 128; ++x) {
                    const double phase = (static_cast<double>(x) - moved) * std::numbers::pi / 10;
                    plane.row(y)[x] = static_cast<float>(noise.poisson(30 + 12 * std::cos(phase)));
                }
            }
        }
        const RegistrationResult result =
            registration_of([&] { return std::make_unique<MadeSource>(frames); }, 1);
        for (const FrameRegistration& frame : result.frames)
            EXPECT_TRUE(std::isfinite(frame.result.motion.tx + frame.result.motion.ty)) << seed;
    }
}

TEST(Implausible, rotations_beyond_the_search_are_flagged) {
    const MadeSeries made = make_series(6, {}, {4 * degree, -1.4, .9});
    RegistrationOptions options;
    for (const double most : {3., 8.}) {
        options.rigid.most_rotation = most;
        const RegistrationResult result =
            registration_of([&] { return std::make_unique<MadeSource>(made.frames); }, 2, options);
        for (const FrameRegistration& frame : result.frames) {
            if (frame.frame == result.reference)
                continue;
            const bool flagged = !frame.left_out.empty() || registration::in_doubt(frame);
            EXPECT_EQ(flagged, most < 4) << frame.frame;
        }
    }
}

} // namespace
} // namespace sextant::test
