// SPDX-License-Identifier: BSD-3-Clause
// The scan of the ranks' totals, and the work of each thread after this scan.
#include "sextant/scan/stealing.hpp"

#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

/// Every rank ends with the values that its `Totals` request: the prefix before its own values, and
/// the prefix that includes them. The operands are the totals of the ranks with values, in order.
sextant::Claim claim_of(const Series& series, const std::vector<Totals>& totals) {
    std::vector<int> place; // for each rank, its index among the ranks with values
    int next = 0;
    for (const Elements own : series)
        place.push_back(own > 0 ? next++ : -1);
    sextant::Claim claim;
    claim.given = [place](int rank, int, Elements) {
        const int own = place[static_cast<std::size_t>(rank)];
        return Symbol{0, own, own + 1, 0};
    };
    claim.wanted = [place, totals](int rank, const std::vector<Symbol>& result) -> std::string {
        const Totals& own = totals[static_cast<std::size_t>(rank)];
        const int number = place[static_cast<std::size_t>(rank)];
        std::vector<Symbol> expected;
        if (own.before)
            expected.push_back({0, 0, number, 0});
        if (own.through)
            expected.push_back({0, 0, number + 1, 0});
        if (result.size() != expected.size())
            return fmt::format("{} results, expected {}", result.size(), expected.size());
        for (std::size_t i = 0; i < result.size(); ++i) {
            if (!result[i].same_value(expected[i]))
                return fmt::format("result {} is [{}, {})", i, result[i].first, result[i].last);
        }
        return "";
    };
    return claim;
}

TEST(Totals, are_scanned_by_every_circuit_even_on_ranks_without_values) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
        Series rough;
        for (int rank = 0; rank < ranks; ++rank)
            rough.push_back((rank * 5 + 2) % 4);
        for (const Series& series :
             {even_blocks(4 * ranks, ranks), even_blocks(ranks, ranks), rough}) {
            for (const Algorithm& algorithm : catalogue()) {
                for (const bool gives_last : {true, false}) {
                    std::vector<Totals> all;
                    Schedule schedule;
                    for (int rank = 0; rank < ranks; ++rank) {
                        all.push_back(totals(series, {algorithm, {}, gives_last}, rank));
                        schedule.push_back(all.back().program);
                    }
                    const Proof proof = prove(schedule, claim_of(series, all));
                    EXPECT_TRUE(proof.holds())
                        << algorithm.name << " " << fmt::format("{}", fmt::join(series, " + "))
                        << ": " << proof.error;
                    EXPECT_FALSE(all[0].before);
                }
            }
        }
    }
}

TEST(LastPhase, skips_values_that_the_next_thread_computes_anyway) {
    Totals both;
    both.before = both.through = true;
    Totals none;
    // Thread 1 combines the prefix before the rank with thread 0's total. It leaves its last value
    // to the next thread.
    EXPECT_TRUE(last_phase({4, 9}, 1, false, both, false).joins);
    EXPECT_EQ(last_phase({4, 9}, 1, false, both, false).applied, (Interval{4, 8}));
    EXPECT_FALSE(last_phase({0, 4}, 0, false, both, false).joins);
    // The last thread applies the operator to its last value unless the totals contain the result.
    EXPECT_EQ(last_phase({4, 9}, 1, true, both, false).applied, (Interval{4, 8}));
    EXPECT_EQ(last_phase({4, 9}, 1, true, none, true).applied, (Interval{4, 9}));
    // On the first rank, prefixes are complete, since nothing precedes the rank.
    EXPECT_EQ(last_phase({0, 4}, 0, false, none, true).applied, (Interval{0, 0}));
    EXPECT_FALSE(last_phase({4, 9}, 1, true, none, true).joins);
}

TEST(ThreadsUsed, never_outnumber_the_values) {
    EXPECT_EQ(employed(0, 4), 0);
    EXPECT_EQ(employed(3, 4), 3);
    EXPECT_EQ(employed(9, 4), 4);
}

} // namespace
} // namespace sextant::scan
