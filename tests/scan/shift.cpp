// SPDX-License-Identifier: BSD-3-Clause
// The shift that makes an exclusive scan out of an inclusive one: proved on even and uneven series.
#include "sextant/scan/strategies.hpp"

#include <algorithm>

#include "tests/support/random.hpp"
#include "tests/support/reference_prover.hpp"
#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

Schedule shift_of(const Series& series) {
    return make_schedule(static_cast<int>(series.size()),
                         [&](int rank) { return shift(series, rank); });
}

TEST(ShiftProof, covers_even_and_uneven_numbers_of_values_and_ranks_without_values) {
    test::Random random(5);
    for (int trial = 0; trial < 400; ++trial) {
        Series series(static_cast<std::size_t>(random.number(1, 23)));
        for (Elements& values : series)
            values = std::max(0, random.number(-3, 4));
        const Schedule schedule = shift_of(series);
        const Proof proof = prove(schedule, shift_claim(series));
        ASSERT_EQ(proof.error, "") << trial;
        EXPECT_EQ(proof.applications, 0);
        EXPECT_LE(proof.most_messages, 2);
        if (trial < 20) {
            EXPECT_EQ(test::what_is_wrong(schedule, shift_claim(series)), "") << trial;
        }
    }
}

TEST(Shift, sends_one_value_to_the_next_rank_that_has_values) {
    const Series series = {0, 3, 0, 1, 2, 0};
    EXPECT_EQ(shifted(series), (Series{0, 2, 0, 1, 2, 0}));
    const Proof proof = prove(shift_of(series), shift_claim(series));
    EXPECT_EQ(proof.error, "");
    EXPECT_EQ(proof.messages, 2);
    EXPECT_EQ(proof.moved, 2);
    EXPECT_EQ(shifted({}), Series());
    EXPECT_EQ(shifted({0, 0}), (Series{0, 0}));
    EXPECT_EQ(prove(shift_of({1}), shift_claim({1})).error, "");
}

TEST(ShiftProof, rejects_values_at_other_positions) {
    const Claim claim = shift_claim({2, 0, 1});
    EXPECT_EQ(claim.wanted(0, {{0, 0, 1, 0}}), "");
    EXPECT_EQ(claim.wanted(1, {}), "");
    EXPECT_EQ(claim.wanted(2, {{0, 1, 2, 0}}), "");
    EXPECT_NE(claim.wanted(0, {}), "");
    EXPECT_NE(claim.wanted(0, {{0, 1, 2, 0}}), "");
    EXPECT_NE(claim.wanted(2, {{0, 2, 3, 0}}), "");
    EXPECT_NE(claim.wanted(2, {{0, 0, 2, 0}}), "");
    EXPECT_NE(claim.wanted(1, {{0, 1, 2, 0}}), "");
}

} // namespace
} // namespace sextant::scan
