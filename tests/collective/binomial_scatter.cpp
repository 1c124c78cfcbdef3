// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/scatter_gather.hpp"

#include <bit>

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::collective {
namespace {

test::Case scatter_case(int ranks, Elements elements) {
    return {fmt::format("binomial scatter to {} ranks of {} elements", ranks, elements),
            make_schedule(ranks, [&](int rank) { return binomial_scatter(ranks, elements, rank); }),
            test::scatter_claim(ranks, elements)};
}

TEST(BinomialScatter, delivers_each_part_to_its_rank) {
    for (int p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 30, 36, 100}) {
        for (Elements elements :
             {Elements{0}, Elements{1}, Elements{3}, Elements{37}, Elements{4 * p + 1}}) {
            const test::Case c = scatter_case(p, elements);
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
}

TEST(BinomialScatter, root_sends_log2_p_messages_and_all_parts_but_its_own) {
    for (int p = 1; p <= 130; ++p) {
        const Elements elements = 3 * p;
        const test::Case c = scatter_case(p, elements);
        const Proof proof = test::proved(c);
        ASSERT_EQ(proof.error, "");
        EXPECT_EQ(proof.messages, p - 1);
        EXPECT_EQ(proof.most_messages, test::ceil_log2(p));
        EXPECT_EQ(proof.most_moved, elements * (p - 1) / p);
        EXPECT_EQ(proof.applications, 0);
    }
}

TEST(BinomialScatter, sends_each_part_once_per_set_bit_of_its_rank) {
    for (int p = 1; p <= 130; ++p) {
        Elements moved = 0; // a part is sent once for each set bit of its owner's number
        for (int rank = 1; rank < p; ++rank)
            moved += std::popcount(static_cast<unsigned>(rank));
        EXPECT_EQ(test::proved(scatter_case(p, p)).moved, moved) << p;
    }
}

TEST(BinomialScatter, labels_a_send_and_its_receive_with_the_same_round) {
    for (int p : {2, 3, 7, 8, 13, 32}) {
        const test::Case c = scatter_case(p, 4 * p);
        for (int rank = 0; rank < p; ++rank) {
            for (const Step& send : c.schedule[static_cast<std::size_t>(rank)].steps) {
                EXPECT_GE(send.round, 0);
                EXPECT_LT(send.round, test::ceil_log2(p));
                if (send.verb != Verb::send)
                    continue;
                const Step& receive = c.schedule[static_cast<std::size_t>(send.peer)].steps[0];
                EXPECT_EQ(receive.peer, rank);
                EXPECT_EQ(receive.round, send.round);
            }
        }
    }
}

TEST(BinomialScatter, programs_have_logarithmic_length) {
    for (int p : {1000, 1 << 20, (1 << 20) + 1}) {
        for (int rank : {0, 1, p / 2, p - 1}) {
            EXPECT_LE(binomial_scatter(p, 4 * p, rank).steps.size(),
                      static_cast<std::size_t>(test::ceil_log2(p)) + 1);
        }
    }
}

} // namespace
} // namespace sextant::collective
