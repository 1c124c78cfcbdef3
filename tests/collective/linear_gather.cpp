// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/scatter_gather.hpp"

#include <numeric>

#include "tests/support/random.hpp"
#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::collective {
namespace {

/// Rank r starts with counts[r] of the elements, which follow one another in rank order.
test::Case gather_case(const std::vector<Elements>& counts) {
    std::vector<Elements> first(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
    return {fmt::format("linear gather of {} elements from {} ranks", first.back(), counts.size()),
            make_schedule(static_cast<int>(counts.size()),
                          [&](int rank) { return linear_gather(counts, rank); }),
            {[first](int rank, int, Elements element) {
                 return Symbol{first[static_cast<std::size_t>(rank)] + element, 0, 1, 0};
             },
             test::exactly([first](int rank) {
                 return test::combined(0, rank == 0 ? first.back() : 0, 0, 1);
             }),
             {}}};
}

TEST(LinearGather, brings_everything_to_rank_0_in_rank_order) {
    for (int p : {1, 2, 3, 5, 8, 17}) {
        for (Elements each : {0, 1, 6}) {
            const test::Case c =
                gather_case(std::vector<Elements>(static_cast<std::size_t>(p), each));
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
}

TEST(LinearGather, takes_uneven_counts_and_ranks_with_nothing) {
    test::Random random(7);
    for (int p : {2, 3, 7, 12}) {
        std::vector<Elements> counts;
        for (int rank = 0; rank < p; ++rank)
            counts.push_back(random.number(0, 4));
        const test::Case c = gather_case(counts);
        const Proof proof = prove(c.schedule, c.claim);
        EXPECT_EQ(proof.error, "") << c.name;
        EXPECT_EQ(proof.messages, std::count_if(counts.begin() + 1, counts.end(),
                                                [](Elements count) { return count > 0; }));
    }
}

} // namespace
} // namespace sextant::collective
