// SPDX-License-Identifier: BSD-3-Clause
// Threads that share one registration give the same bits as one thread.
#include "sextant/comm/thread_team.hpp"
#include "sextant/registration/pair/nonrigid.hpp"

#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr int team_sizes[] = {1, 2, 3, 5};

Pair uneven_pair() {
    Trial trial;
    trial.shape = {203, 151};
    return make_pair(trial);
}

RigidResult aligned_by(Team& team, const Pair& pair) {
    const ImageShape shape = pair.reference.shape();
    registration::Pyramid reference(shape, 0, registration::usual_prefilter, &team);
    registration::Pyramid moved(shape, 0, registration::usual_prefilter, &team);
    reference.fill(pair.reference.samples());
    moved.fill(pair.moved.samples());
    return registration::RigidRegistration(shape, 0, {}, &team).align(reference, moved);
}

void expect_same(const RigidResult& one, const RigidResult& other, int threads) {
    EXPECT_EQ(one.motion, other.motion) << threads;
    EXPECT_EQ(one.uncertainty.covariance, other.uncertainty.covariance) << threads;
    EXPECT_EQ(one.ncc_before, other.ncc_before) << threads;
    EXPECT_EQ(one.ncc_after, other.ncc_after) << threads;
    EXPECT_EQ(one.lead, other.lead) << threads;
    EXPECT_EQ(one.iterations, other.iterations) << threads;
}

TEST(RigidThreads, give_the_same_bits_as_one_thread) {
    Pair pair = uneven_pair();
    Registrar alone({203, 151});
    for (const bool gaps : {false, true}) {
        if (gaps)
            std::fill_n(pair.moved.row(60) + 30, 900, std::nanf(""));
        const RigidResult expected = alone.align(pair.reference.samples(), pair.moved.samples());
        for (const int threads : team_sizes) {
            Team team(threads);
            expect_same(aligned_by(team, pair), expected, threads);
        }
    }
}

TEST(NonrigidThreads, give_the_same_bits_as_one_thread) {
    const Pair pair = uneven_pair();
    registration::NonrigidRegistration alone({203, 151});
    const registration::DisplacementField expected =
        alone.run(pair.reference.samples(), pair.moved.samples(), usual_motion).field;
    for (const int threads : team_sizes) {
        Team team(threads);
        registration::NonrigidRegistration shared({203, 151}, {}, &team);
        const registration::DisplacementField& field =
            shared.run(pair.reference.samples(), pair.moved.samples(), usual_motion).field;
        EXPECT_EQ(field.x, expected.x) << threads;
        EXPECT_EQ(field.y, expected.y) << threads;
        EXPECT_EQ(field.sigma, expected.sigma) << threads;
        EXPECT_EQ(field.known, expected.known) << threads;
    }
}

} // namespace
} // namespace sextant::test
