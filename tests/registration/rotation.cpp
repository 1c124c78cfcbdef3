// SPDX-License-Identifier: BSD-3-Clause
// Frames that are rotated by any angle.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/pair/correlation.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
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
    EXPECT_THAT(
        [&] {
            run_threads(1, [&](const Communicator& communicator) {
                SeriesRegistration(communicator, options)
                    .run(std::make_unique<MadeSource>(made.frames));
            });
        },
        testing::ThrowsMessage<AgreedFailure>(testing::HasSubstr("up to 3 degrees")));
}

} // namespace
} // namespace sextant::test
