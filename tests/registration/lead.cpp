// SPDX-License-Identifier: BSD-3-Clause
// The lead of one motion over another, on pairs of images with known motion.
#include "sextant/registration/pair/lead.hpp"

#include "sextant/registration/pair/pyramid.hpp"

#include <cmath>
#include <limits>

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

} // namespace
} // namespace sextant::test
