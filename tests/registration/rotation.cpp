// SPDX-License-Identifier: BSD-3-Clause
// Frames that are rotated by any angle.
// Series whose contrast inverts.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/correlation.hpp"
#include "sextant/registration/series/consensus.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

Registrar for_rotation(ImageShape shape, double most = 180) {
    registration::RigidOptions options;
    options.most_rotation = most;
    return Registrar(shape, registration::usual_prefilter, options);
}

/// Trials whose angles are spread evenly over the whole circle, with random translations.
std::vector<Outcome> run_circle(Trial trial, int angles) {
    Registrar registrar = for_rotation(trial.shape);
    registration::NoiseSource noise(78, 0);
    const auto within = [&](double most) { return (2 * noise.uniform() - 1) * most; };
    std::vector<Outcome> outcomes;
    for (int number = 0; number < angles; ++number) {
        trial.seed = static_cast<std::uint64_t>(number + 1);
        const double turn = 360. * (number + .5) / angles - 180;
        const double tx = within(20), ty = within(20);
        trial.motion = {turn * degree, tx, ty};
        outcomes.push_back(run(trial, registrar));
    }
    return outcomes;
}

TEST(Rotation, pairs_are_registered_at_any_angle) {
    for (const char* specimen : {"particles", "carbon", "lattice"}) {
        Trial trial;
        trial.specimen = specimen;
        const std::vector<Outcome> outcomes = run_circle(trial, 16);
        for (const Outcome& outcome : outcomes) {
            EXPECT_LT(outcome.error, 5 * outcome.bound) << describe(outcome);
            EXPECT_FALSE(outcome.flagged()) << describe(outcome);
        }
        // The bound is that of the whole frame, of which up to a fifth does not overlap.
        EXPECT_LT(accuracy(outcomes).ratio, 1.8) << specimen;
    }
}

TEST(Rotation, motions_of_a_perfect_lattice_are_ambiguous) {
    Trial trial;
    trial.amorphous = 0;
    for (const Outcome& outcome : run_circle(trial, 12)) {
        EXPECT_TRUE(outcome.result.ambiguous) << describe(outcome);
        // The angle is right, except for a symmetry of the lattice.
        const double sixth = std::numbers::pi / 3;
        EXPECT_LT(
            std::abs(std::remainder(outcome.result.motion.alpha - outcome.truth.alpha, sixth)),
            .005)
            << describe(outcome);
    }
}

TEST(Rotation, is_limited_to_the_largest_angle_requested) {
    Trial trial;
    trial.specimen = "carbon";
    trial.motion = {25 * degree, 4, 3};
    Registrar wide = for_rotation(trial.shape, 40), narrow = for_rotation(trial.shape, 12);
    EXPECT_LT(run(trial, wide).error, 1);
    EXPECT_TRUE(run(trial, narrow).flagged());
}

TEST(Rotation, of_the_usual_size_is_found_without_comparing_spectra) {
    for (const char* specimen : {"particles", "carbon"}) {
        for (const double turn : {-5., -3., 3., 5.}) {
            Trial trial;
            trial.specimen = specimen;
            trial.motion = {turn * degree, 5, -9};
            Registrar registrar(trial.shape);
            const Outcome outcome = run(trial, registrar);
            EXPECT_LT(outcome.error, 5 * outcome.bound) << turn << " " << describe(outcome);
            EXPECT_FALSE(outcome.flagged()) << turn << " " << describe(outcome);
        }
    }
}

TEST(RotationSearch, finds_the_angle_and_its_opposite) {
    constexpr double turn = 100;
    Trial trial;
    trial.specimen = "carbon";
    trial.motion = {turn * degree, 7, -5};
    const Pair pair = make_pair(trial);
    Registrar registrar(trial.shape);
    registrar.reference.fill(pair.reference.samples());
    registrar.moved.fill(pair.moved.samples());
    const int coarsest = registrar.reference.levels() - 1;
    const kernel::FloatImage r = registrar.reference.level(coarsest),
                             t = registrar.moved.level(coarsest);
    registration::RotationSearch search(r.shape);
    const std::vector<double> found(search.angles(r, t).begin(), search.angles(r, t).end());
    ASSERT_GE(found.size(), 2U);
    EXPECT_LE(found.size(), registration::RotationSearch::most);
    const double pi = std::numbers::pi;
    EXPECT_LT(std::abs(std::remainder(found[0] - pair.series.between(0, 1).alpha, pi)), 1 * degree);
    for (std::size_t i = 0; i + 1 < found.size(); i += 2)
        EXPECT_NEAR(std::abs(std::remainder(found[i] - found[i + 1], 2 * pi)), pi, 1e-9);
    Team team(3);
    registration::RotationSearch threaded(r.shape, &team);
    const std::span<const double> same = threaded.angles(r, t);
    EXPECT_EQ(std::vector<double>(same.begin(), same.end()), found);
}

/// A series whose frames each rotate by 77 degrees.
TEST(Rotation, series_are_registered_whose_frames_rotate_around_the_circle) {
    const MadeSeries made = make_series(8, {}, {77 * degree, -1.4, .9});
    RegistrationOptions options;
    options.rigid.most_rotation = 180;
    for (const int ranks : {1, 3}) {
        for (const FrameRegistration& place : places_of(made.frames, ranks, options)) {
            EXPECT_EQ(place.left_out, "");
            EXPECT_FALSE(place.in_doubt || place.result.ambiguous) << place.frame;
            EXPECT_LE(std::abs(place.result.motion.alpha), std::numbers::pi);
            EXPECT_LT(error_of_place(made, place, 0), 4 * made.bound) << place.frame;
        }
    }
}

TEST(Rotation, of_any_size_is_refused_for_displacement_fields) {
    const MadeSeries made = make_series(2);
    RegistrationOptions options;
    options.model = MotionModel::nonrigid;
    options.rigid.most_rotation = 180;
    EXPECT_THAT([&] { registration_of(made.frames, options); },
                testing::ThrowsMessage<AgreedFailure>(testing::HasSubstr("up to 3 degrees")));
}

using registration::inverted_frames;
using registration::LinkSeen;

/// Mirrors a frame's samples at their mean.
void invert(kernel::FloatPlane& frame) {
    const ImageShape shape = frame.shape();
    double sum = 0;
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x)
            sum += static_cast<double>(frame.image().at(x, y));
    }
    const auto twice = static_cast<float>(2 * sum / static_cast<double>(shape.elements()));
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x)
            frame.row(y)[x] = twice - frame.row(y)[x];
    }
}

/// A series whose frames from `first` on are inverted.
MadeSeries inverting_series(int frames, int first) {
    MadeSeries made = make_series(frames);
    for (int frame = first; frame < frames; ++frame)
        invert(made.frames[static_cast<std::size_t>(frame)]);
    return made;
}

Registrar for_both_contrasts(ImageShape shape) {
    registration::RigidOptions options;
    options.inverts = true;
    return Registrar(shape, registration::usual_prefilter, options);
}

TEST(Inversion, is_recognised_in_pairs_whose_motion_is_as_exact_as_without_it) {
    for (const char* specimen : {"carbon", "particles", "lattice"}) {
        Trial trial;
        trial.specimen = specimen;
        Registrar registrar = for_both_contrasts(trial.shape);
        double squares = 0, bounds = 0;
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            trial.seed = seed;
            Pair pair = make_pair(trial);
            invert(pair.moved);
            const RigidResult result =
                registrar.align(pair.reference.samples(), pair.moved.samples());
            EXPECT_TRUE(result.inverted) << specimen << " " << seed;
            EXPECT_FALSE(result.ambiguous || result.unrelated) << specimen << " " << seed;
            EXPECT_GT(result.ncc_after, 0);
            const double error = registration::rms_distance(
                result.motion, pair.series.between(0, 1), trial.shape, central);
            squares += error * error;
            bounds += pair.bound * pair.bound;
        }
        EXPECT_LT(std::sqrt(squares / bounds), 1.6) << specimen;
    }
}

TEST(Inversion, is_not_found_in_pairs_of_one_contrast_whose_motions_keep_their_bits) {
    for (const char* specimen : {"carbon", "particles", "lattice"}) {
        Trial trial;
        trial.specimen = specimen;
        trial.shape = {128, 128};
        Registrar both = for_both_contrasts(trial.shape), same(trial.shape);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            trial.seed = seed;
            const Outcome outcome = run(trial, both);
            EXPECT_FALSE(outcome.result.inverted) << describe(outcome);
            EXPECT_EQ(outcome.result.motion, run(trial, same).result.motion);
        }
    }
}

TEST(Inversion, frames_that_most_links_say_to_be_inverted_are) {
    const auto link = [](std::size_t reference, std::size_t moved, bool inverted, double lead = 5) {
        return LinkSeen{reference, moved, {}, true, lead, inverted};
    };
    // Frames 2 and 3 are inverted; the link between 1 and 2 errs.
    const std::vector<LinkSeen> links{link(0, 1, false), link(0, 2, true),  link(1, 2, false, 2),
                                      link(1, 3, true),  link(2, 3, false), link(2, 4, true),
                                      link(3, 4, true)};
    EXPECT_EQ(inverted_frames(5, links), (std::vector<std::uint8_t>{0, 0, 1, 1, 0}));
    // A frame without links has the contrast of the first.
    EXPECT_EQ(inverted_frames(3, std::vector{link(0, 1, true)}),
              (std::vector<std::uint8_t>{0, 1, 0}));
    LinkSeen bad = link(0, 1, true);
    bad.trusted = false;
    EXPECT_EQ(inverted_frames(2, std::vector{bad}), (std::vector<std::uint8_t>{0, 0}));
}

TEST(Inversion, a_group_whose_first_links_err_is_inverted_as_a_whole) {
    // The strongest link from frame 2 says that it is not inverted; the others, together, do.
    const std::vector<LinkSeen> links{{0, 1, {}, true, 9, false}, {1, 2, {}, true, 6, false},
                                      {2, 3, {}, true, 9, false}, {1, 3, {}, true, 4, true},
                                      {0, 2, {}, true, 4, true},  {2, 4, {}, true, 9, false},
                                      {3, 4, {}, true, 9, false}, {1, 4, {}, true, 4, true}};
    EXPECT_EQ(inverted_frames(5, links), (std::vector<std::uint8_t>{0, 0, 1, 1, 1}));
}

TEST(Inversion, frames_are_mirrored_at_their_level) {
    const MadeSeries made = make_series(2);
    MadeSource source(made.frames);
    registration::ChangedFrames inverted(
        source, registration::mirrored_at({std::numeric_limits<double>::quiet_NaN(), 10}));
    std::vector<float> recorded(128 * 128), read(128 * 3);
    source.read_frame(0, recorded);
    inverted.read_rows(0, {5, 8}, read);
    EXPECT_EQ(read, std::vector<float>(recorded.begin() + 5 * 128, recorded.begin() + 8 * 128));
    source.read_frame(1, recorded);
    inverted.read_rows(1, {5, 8}, read);
    for (std::size_t i = 0; i < read.size(); ++i)
        EXPECT_EQ(read[i], 20 - recorded[5 * 128 + i]);
}

TEST(Inversion, series_are_registered_across_it_on_any_number_of_ranks_and_threads) {
    constexpr int frames = 10, first = 4;
    const MadeSeries made = inverting_series(frames, first);
    RegistrationOptions by_frames;
    by_frames.threads = 2;
    by_frames.thread_work = ThreadWork::frames;
    const auto check = [&](const std::vector<FrameRegistration>& places, const char* how) {
        for (const FrameRegistration& place : places) {
            EXPECT_EQ(place.left_out, "") << how;
            EXPECT_FALSE(place.in_doubt || place.result.ambiguous) << how << " " << place.frame;
            EXPECT_EQ(place.contrast.inverted(), place.frame >= first) << how << " " << place.frame;
            EXPECT_LT(error_of_place(made, place, 0), 3 * made.bound) << how << " " << place.frame;
        }
    };
    check(places_of(made.frames, 1), "one rank");
    check(places_of(made.frames, 3), "three ranks");
    check(places_of(made.frames, 2, by_frames), "two ranks of two threads");
}

/// Returns the NCC of an image and the expected image of frame 0, in their central parts.
double likeness(const MadeSeries& made, std::span<const float> image) {
    const kernel::FloatPlane truth = made.series.expected(0);
    double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (Elements y = 30; y < 98; ++y) {
        for (Elements x = 30; x < 98; ++x) {
            const auto s = static_cast<double>(image[static_cast<std::size_t>(y * 128 + x)]);
            const auto t = static_cast<double>(truth.image().at(x, y));
            n += 1, a += s, b += t, aa += s * s, bb += t * t, ab += s * t;
        }
    }
    return (ab / n - a / n * b / n) /
           std::sqrt((aa / n - a / n * a / n) * (bb / n - b / n * b / n));
}

TEST(Inversion, only_weighted_averages_invert_the_frames_back) {
    const MadeSeries made = inverting_series(8, 4);
    for (const int ranks : {1, 2}) {
        RegistrationOptions options;
        const RegistrationResult plain = registration_of(made.frames, options, ranks);
        EXPECT_EQ(plain.inverted, 4);
        EXPECT_EQ(plain.not_averaged, 0);
        EXPECT_LT(std::abs(likeness(made, plain.average.mean)), .5); // the halves nearly cancel
        options.average = AverageKind::weighted;
        const RegistrationResult weighted = registration_of(made.frames, options, ranks);
        EXPECT_GT(likeness(made, weighted.average.mean), .9);
        EXPECT_GT(likeness(made, weighted.average.median), .9);
    }
}

TEST(Inversion, is_stated_relative_to_the_reference) {
    const MadeSeries made = inverting_series(8, 3);
    RegistrationOptions options;
    options.reference = 5;
    options.average = AverageKind::weighted;
    const RegistrationResult result = registration_of(made.frames, options, 2);
    EXPECT_EQ(result.inverted, 3);
    for (const FrameRegistration& frame : result.frames)
        EXPECT_EQ(frame.contrast.inverted(), frame.frame < 3) << frame.frame;
}

TEST(Inversion, fields_follow_motions_across_it) {
    const MadeSeries made = inverting_series(6, 3);
    RegistrationOptions options;
    options.model = MotionModel::nonrigid;
    for (const int ranks : {1, 2}) {
        const RegistrationResult result = registration_of(made.frames, options, ranks);
        EXPECT_EQ(result.inverted, 3);
        for (const FrameRegistration& frame : result.frames) {
            EXPECT_EQ(frame.left_out + frame.not_averaged, "");
            EXPECT_GT(frame.result.ncc_after, .2);
        }
    }
}

TEST(Inversion, is_not_considered_if_the_contrast_is_the_same) {
    const MadeSeries made = inverting_series(8, 4);
    RegistrationOptions options;
    options.contrast = ContrastSearch::same;
    for (const FrameRegistration& place : places_of(made.frames, 2, options))
        EXPECT_FALSE(place.contrast.inverted());
}

} // namespace
} // namespace sextant::test
