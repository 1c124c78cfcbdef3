// SPDX-License-Identifier: BSD-3-Clause
// Proofs of random schedules, compared with a slow and simple reference.
#include "sextant/schedule/prove.hpp"

#include "tests/support/random_schedules.hpp"
#include "tests/support/reference_prover.hpp"
#include "tests/support/two_ranks.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::anything;
using test::Random;

TEST(ProveRandom, agrees_with_the_slow_reference_on_random_schedules) {
    Random random(41);
    int right = 0, wrong = 0;
    for (int trial = 0; trial < 6000; ++trial) {
        const int ranks = random.number(2, 4);
        const Schedule schedule = test::RandomSchedule(random, ranks).make(random.number(3, 16));
        const std::string expected = test::what_is_wrong(schedule, anything());
        const Proof proof = prove(schedule, anything());
        ASSERT_EQ(proof.holds(), expected.empty()) << "trial " << trial << ": '" << proof.error
                                                   << "', but the reference '" << expected << "'";
        ++(expected.empty() ? right : wrong);
    }
    EXPECT_GT(right, 1500);
    EXPECT_GT(wrong, 1500);
}

TEST(ProveRandom, gives_the_same_verdict_in_any_shuffled_order) {
    Random random(42);
    for (int trial = 0; trial < 300; ++trial) {
        const Schedule schedule = test::RandomSchedule(random, 3).make(10);
        const bool holds = prove(schedule, anything(), Delivery::rendezvous).holds();
        for (unsigned seed = 1; seed <= 10; ++seed) {
            const Proof proof = prove(schedule, anything(), Delivery::shuffled, seed);
            ASSERT_EQ(proof.holds(), holds) << trial << ", seed " << seed << ": " << proof.error;
        }
    }
}

TEST(ProveRandom, neither_throws_nor_hangs_for_random_data) {
    Random random(43);
    for (int trial = 0; trial < 50000; ++trial) {
        const Schedule schedule = test::garbage(random);
        ASSERT_NO_THROW(prove(schedule, anything())) << trial;
    }
}

} // namespace
} // namespace sextant
