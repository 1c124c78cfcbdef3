// SPDX-License-Identifier: BSD-3-Clause
// The lead of one motion over another, on pairs of images with known motion.
// Motions that remain within frames are recognised, measured and told apart; noise is not taken for
// them.
#include "sextant/registration/pair/lead.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "bench/faulty_series.hpp"
#include "tests/registration/made_series.hpp"
#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::Images;
using registration::LeadMeter;
using registration::Pyramid;

constexpr ImageShape whole{128, 128};

/// Two frames of a lattice, at rest, on the coarsest level of their pyramids.
struct Lattices {
    Lattices(double amorphous, double dose, std::uint64_t seed)
        : pair(make_pair({"lattice", whole, dose, {}, amorphous, seed})) {
        reference.fill(pair.reference.samples());
        moved.fill(pair.moved.samples());
    }
    Images images() const {
        const Point c = registration::centre(whole);
        return {reference.level(1), moved.level(1), {c.x / 2, c.y / 2}, false};
    }

    Pair pair;
    Pyramid reference{whole, 2}, moved{whole, 2};
};

/// A lattice period (synthetic.cpp), in pixels of the level.
RigidMotion period() {
    constexpr double turned = .12, distance = 24 / std::numbers::sqrt3;
    return {0, -distance * std::sin(turned), distance * std::cos(turned)};
}

double lead(const Lattices& lattices, const RigidMotion& motion, const RigidMotion& rival) {
    LeadMeter meter(lattices.images().reference.shape);
    meter.set(lattices.images(), motion);
    return meter.over(rival);
}

TEST(Lead, over_nothing_tells_related_frames_from_unrelated_ones) {
    const auto over_nothing = [](const Pair& one, const Pair& other) {
        Pyramid reference(whole, 2), moved(whole, 2);
        reference.fill(one.reference.samples());
        moved.fill(other.moved.samples());
        const Point c = registration::centre(whole);
        LeadMeter meter(reference.level(1).shape);
        meter.set({reference.level(1), moved.level(1), {c.x / 2, c.y / 2}, false}, {});
        return meter.over_nothing();
    };
    double squares = 0;
    constexpr int pairs = 60;
    for (std::uint64_t seed = 1; seed <= pairs; ++seed) {
        const Pair one = make_pair({"carbon", whole, 10, {}, .38, seed}),
                   other = make_pair({"carbon", whole, 10, {}, .38, seed + pairs});
        EXPECT_GT(over_nothing(one, one), 8) << seed;
        const double unrelated = over_nothing(one, other);
        squares += unrelated * unrelated;
    }
    const double spread = std::sqrt(squares / pairs);
    EXPECT_GT(spread, .6);
    EXPECT_LT(spread, 1.5);
}

TEST(Lead, spreads_no_more_than_a_normal_deviate_on_a_perfect_lattice) {
    constexpr int pairs = 120;
    double sum = 0, squares = 0;
    for (std::uint64_t seed = 1; seed <= pairs; ++seed) {
        const RigidMotion p = period(), half{0, p.tx / 2, p.ty / 2};
        const double one = lead(Lattices(0, 10, seed), half, inverse(half)); // equally wrong
        sum += one;
        squares += one * one;
    }
    EXPECT_LT(std::abs(sum / pairs), 3 / std::sqrt(pairs));
    EXPECT_GT(std::sqrt(squares / pairs), .4);
    EXPECT_LT(std::sqrt(squares / pairs), 1.1);
}

TEST(Lead, grows_with_the_dose_and_with_the_part_of_a_lattice_that_is_not_periodic) {
    const auto mean = [](double amorphous, double dose) {
        double sum = 0;
        for (std::uint64_t seed = 1; seed <= 8; ++seed)
            sum += lead(Lattices(amorphous, dose, seed), {}, period()) / 8;
        return sum;
    };
    EXPECT_GT(mean(.38, 10), 4);
    EXPECT_GT(mean(.38, 10), mean(.2, 10) + 1);
    EXPECT_GT(mean(.2, 40), mean(.2, 5) + 1);
}

TEST(Lead, changes_its_sign_if_the_motions_are_swapped) {
    const Lattices lattices(.38, 10, 1);
    EXPECT_GT(lead(lattices, {}, period()), 2);
    EXPECT_LT(lead(lattices, period(), {}), -2);
    EXPECT_EQ(lead(lattices, {}, {}), 0);
}

TEST(Lead, is_infinite_if_the_motions_cannot_be_compared) {
    EXPECT_EQ(lead(Lattices(.38, 10, 1), {}, {0, 70, 0}), std::numeric_limits<double>::infinity());
}

TEST(Lead, ignores_gaps) {
    Lattices lattices(.38, 10, 1);
    for (Elements y = 0; y < 40; ++y)
        std::fill_n(lattices.pair.moved.row(y), whole.width,
                    std::numeric_limits<float>::quiet_NaN());
    lattices.moved.fill(lattices.pair.moved.samples());
    EXPECT_GT(lead(lattices, {}, period()), 2);
}

TEST(NormalDeviate, has_the_probability_of_students_t) {
    EXPECT_NEAR(registration::normal_deviate(2.015, 5), 1.645, .05);
    EXPECT_NEAR(registration::normal_deviate(-3.365, 5), -2.326, .1);
    EXPECT_NEAR(registration::normal_deviate(2.750, 30), 2.576, .01);
}

using registration::Misfit;
using registration::SeriesMisfit;

RegistrationResult result_of(const char* specimen, const bench::Faults& faults, double dose = 10,
                             RegistrationOptions options = {}) {
    registration::SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 12;
    plan.dose = dose;
    plan.drift = {0, .8, -.6};
    plan.wander = .3;
    plan.seed = 5;
    const bench::FaultySeries series(plan, faults, specimen_of(plan, specimen, 5, 32));
    options.reproducible = true;
    return registration_of([&] { return series.open(); }, 1, options);
}

TEST(SeriesMisfit, is_not_significant_if_the_model_fits) {
    for (const char* specimen : {"lattice", "particles", "carbon"}) {
        for (const double dose : {2., 10., 40.}) {
            const SeriesMisfit misfit = result_of(specimen, {}, dose).misfit;
            EXPECT_FALSE(misfit.significant) << specimen << " " << dose;
            EXPECT_LT(std::abs(misfit.deviations), 4) << specimen << " " << dose;
        }
    }
    RegistrationOptions one_stage;
    one_stage.stages = 1;
    EXPECT_FALSE(result_of("lattice", {}, 10, one_stage).misfit.significant);
}

TEST(SeriesMisfit, measures_a_change_of_the_magnification_that_rigid_motions_leave) {
    bench::Faults faults;
    faults.magnification = .02;
    for (const char* specimen : {"lattice", "particles", "carbon"}) {
        const SeriesMisfit misfit = result_of(specimen, faults).misfit;
        EXPECT_TRUE(misfit.significant) << specimen;
        EXPECT_FALSE(misfit.of_rows) << specimen;
        // The magnification m of frame i is that of the average plus .02 (i/11 − 1/2), and the RMS
        // distance of positions from the centre is 256/√6.
        double squares = 0;
        for (int frame = 0; frame < 12; ++frame)
            squares += std::pow(.02 * (frame / 11. - .5) * 256 / std::sqrt(6), 2) / 12;
        EXPECT_NEAR(misfit.pixels, std::sqrt(squares), .3 * std::sqrt(squares)) << specimen;
    }
}

TEST(SeriesMisfit, is_that_of_the_model) {
    bench::Faults faults;
    faults.magnification = .02;
    RegistrationOptions options;
    options.model = MotionModel::automatic;
    const RegistrationResult result = result_of("carbon", faults, 10, options);
    EXPECT_EQ(result.model, MotionModel::similarity);
    EXPECT_FALSE(result.misfit.significant) << result.misfit.pixels;
    options.model = MotionModel::translation;
    EXPECT_TRUE(result_of("carbon", faults, 10, options).misfit.significant);
    options.model = MotionModel::nonrigid;
    EXPECT_EQ(result_of("carbon", {}, 10, options).misfit.deviations, 0) << "not measured";
}

TEST(SeriesMisfit, tells_rows_that_jitter_from_a_shear) {
    bench::Faults jitter, shear;
    jitter.jitter = 1;
    shear.shear = .02;
    RegistrationOptions rigid;
    rigid.scan_rows = ScanRows::off;
    for (const char* specimen : {"lattice", "carbon"}) {
        const SeriesMisfit of_rows = result_of(specimen, jitter, 10, rigid).misfit;
        EXPECT_TRUE(of_rows.significant && of_rows.of_rows) << specimen;
        EXPECT_NEAR(of_rows.pixels, 1 / std::sqrt(32), .06) << specimen;
        const SeriesMisfit of_shear = result_of(specimen, shear).misfit;
        EXPECT_TRUE(of_shear.significant) << specimen;
        EXPECT_FALSE(of_shear.of_rows) << specimen;
    }
}

TEST(SeriesMisfit, is_not_decided_by_a_single_frame) {
    Misfit clear, none;
    clear.smooth = {1000, 1000, 1};
    none.smooth = {0, 1000, 1};
    const std::vector<Misfit> one = {clear, none, none, none, none, none, none, none};
    EXPECT_FALSE(registration::misfit_of_series(one, 0).significant);
    EXPECT_GT(registration::misfit_of_series(one, 0).deviations, 5);
    std::vector<Misfit> three = one;
    three[1] = three[2] = clear;
    EXPECT_TRUE(registration::misfit_of_series(three, 0).significant);
    EXPECT_TRUE(registration::misfit_of_series(std::vector<Misfit>{clear, clear}, 0).significant);
    EXPECT_FALSE(registration::misfit_of_series({}, 0).significant);
}

TEST(SeriesMisfit, counts_noise_that_frames_share) {
    Misfit frame;
    frame.smooth = {1, 1, 1};
    const std::vector<Misfit> frames(100, frame);
    EXPECT_NEAR(registration::misfit_of_series(frames, 0).deviations, 10, 1e-4);
    EXPECT_NEAR(registration::misfit_of_series(frames, .5).deviations, 10 / std::sqrt(1 + 99 * .25),
                1e-4);
}

} // namespace
} // namespace sextant::test
