// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/kogge_stone.hpp"

#include "sextant/schedule/dependences.hpp"

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

test::Case scan_case(int ranks, Elements elements) {
    return {fmt::format("Kogge-Stone on {} ranks, {} elements", ranks, elements),
            make_schedule(ranks, [&](int rank) { return kogge_stone(ranks, elements, rank); }),
            test::scan_claim(elements)};
}

TEST(KoggeStone, gives_each_rank_the_combination_of_all_up_to_it) {
    for (int p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 30, 36}) {
        for (Elements elements : {0, 1, 3, 37}) {
            const test::Case c = scan_case(p, elements);
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
}

TEST(KoggeStone, applies_the_operator_as_often_and_as_deep_as_its_formulas_say) {
    for (int p = 1; p <= 200; ++p) {
        const test::Case c = scan_case(p, 1);
        const Proof proof = prove(c.schedule, c.claim, Delivery::rendezvous);
        ASSERT_EQ(proof.error, "") << c.name;
        const int rounds = test::ceil_log2(p);
        const Elements applications = Elements{p} * rounds - (Elements{1} << rounds) + 1;
        EXPECT_EQ(proof.applications, applications) << p;
        EXPECT_EQ(proof.messages, applications) << p;
        EXPECT_EQ(proof.moved, applications) << p;
        EXPECT_EQ(proof.depth, rounds) << p;
        EXPECT_EQ(proof.most_messages, rounds) << p;
    }
}

TEST(KoggeStone, lets_no_fold_wait_for_a_send) {
    for (int p : {2, 5, 16, 33}) {
        for (int rank = 0; rank < p; ++rank) {
            const Program program = kogge_stone(p, 4, rank);
            const Dependences dependences(program);
            for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
                const bool sends = program.steps[static_cast<std::size_t>(i)].verb == Verb::send;
                EXPECT_TRUE(!sends || dependences.after(i).empty());
            }
        }
    }
}

TEST(KoggeStone, programs_are_three_steps_a_round) {
    for (int p : {1, 2, 1000, 1 << 20}) {
        const auto rounds = static_cast<std::size_t>(test::ceil_log2(p));
        for (int rank : {0, p / 2, p - 1}) {
            const Program program = kogge_stone(p, 4, rank);
            EXPECT_LE(program.steps.size(), 3 * rounds);
            EXPECT_LE(program.buffers.size(), rounds + 1);
            EXPECT_LE(Dependences(program).edges(), 4 * rounds);
        }
    }
}

} // namespace
} // namespace sextant::scan
