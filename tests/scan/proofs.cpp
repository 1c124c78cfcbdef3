// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the catalogue in both forms; new algorithms are tested automatically.
#include "sextant/core/error.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/circuits.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"

#include "tests/support/reference_prover.hpp"
#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

using test::Case;

// Fewer ranks with sanitizers, which are slow and not meant to find wrong circuits.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int most_ranks = 50;
#else
constexpr int most_ranks = 200;
#endif

TEST(ScanProof, covers_inclusive_and_exclusive_scans_on_1_to_200_ranks) {
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        for (int ranks = 1; ranks <= most_ranks; ++ranks) {
            const Case c = test::scan_case(algorithm, {ranks, 1, form}, tuning);
            ASSERT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    });
}

TEST(ScanProof, covers_any_number_of_values_per_rank) {
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        for (int ranks : {1, 2, 3, 7, 8, 12, 17}) {
            for (Elements elements : {0, 2, 37}) {
                const Case c = test::scan_case(algorithm, {ranks, elements, form}, tuning);
                EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            }
        }
    });
}

TEST(ScanProof, covers_ladner_fischer_for_any_parameter_k) {
    for (int k : {0, 1, 2, 3, 4, 5, 8, 20}) {
        for (int ranks = 1; ranks <= 70; ++ranks) {
            const Case c = test::scan_case(find("ladner-fischer"), {ranks, 1}, {k});
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
    EXPECT_THROW(program(find("ladner-fischer"), {4, 1}, {-1}, 0), InvalidTask);
}

TEST(ScanProof, agrees_with_the_slow_reference_implementation) {
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        for (int ranks : {1, 2, 3, 6, 8, 11}) {
            const Case c = test::scan_case(algorithm, {ranks, 2, form}, tuning);
            EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
        }
    });
}

TEST(ScanProof, accepts_only_the_results_of_the_requested_inclusive_or_exclusive_scan) {
    const Claim inclusive = claim(Task{3, 1, Form::inclusive});
    const Claim exclusive = claim(Task{3, 1, Form::exclusive});
    EXPECT_EQ(inclusive.wanted(1, {{0, 0, 2, 1}}), "");
    EXPECT_EQ(exclusive.wanted(1, {{0, 0, 1, 0}}), "");
    EXPECT_EQ(exclusive.wanted(0, {}), "");
    EXPECT_NE(exclusive.wanted(0, {{0, 0, 1, 0}}), "");
    for (const Symbol& wrong :
         {Symbol{0, 0, 1, 0}, Symbol{0, 1, 2, 0}, Symbol{1, 0, 2, 0}, Symbol{}}) {
        EXPECT_NE(inclusive.wanted(1, {wrong}), "");
    }
    EXPECT_NE(inclusive.wanted(1, {}), "");
}

TEST(Scan, invalid_tasks_are_refused) {
    for (const Task& task : {Task{0, 1}, Task{-1, 1}, Task{2, -1}, Task{2, 1, Form::both}})
        EXPECT_THROW(program(find("serial"), task, {}, 0), InvalidTask);
    EXPECT_THROW(find("kogge"), InvalidTask);
}

TEST(Scan, values_are_not_overwritten_while_they_are_sent) {
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        for (int ranks : {2, 5, 16, 33}) {
            for (int rank = 0; rank < ranks; ++rank) {
                const Program own = program(algorithm, {ranks, 4, form}, tuning, rank);
                const Dependences dependences(own);
                for (int i = 0; i < static_cast<int>(own.steps.size()); ++i) {
                    const bool sends = own.steps[static_cast<std::size_t>(i)].verb == Verb::send;
                    EXPECT_TRUE(!sends || dependences.after(i).empty()) << algorithm.name;
                }
            }
        }
    });
}

TEST(Scan, both_sides_of_a_message_have_the_same_round_and_rounds_increase) {
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        for (int ranks : {1, 2, 3, 7, 16, 27}) {
            const Case c = test::scan_case(algorithm, {ranks, 1, form}, tuning);
            const auto mates = match_messages(c.schedule);
            const int rounds = algorithm.rounds(ranks, tuning);
            for (std::size_t rank = 0; rank < c.schedule.size(); ++rank) {
                const auto& steps = c.schedule[rank].steps;
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    EXPECT_LE(steps[i].round, form == algorithm.native ? rounds - 1 : rounds)
                        << c.name;
                    EXPECT_GE(steps[i].round, i > 0 ? steps[i - 1].round : 0) << c.name;
                    if (!is_message(steps[i].verb))
                        continue;
                    const StepOfRank mate = mates[rank][i];
                    EXPECT_EQ(c.schedule[static_cast<std::size_t>(mate.rank)]
                                  .steps[static_cast<std::size_t>(mate.step)]
                                  .round,
                              steps[i].round)
                        << c.name;
                }
            }
        }
    });
}

TEST(Scan, a_program_is_created_independently_of_the_other_ranks) {
    constexpr int ranks = 1 << 20;
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        // Only the last rank of a block or half has many steps: it sends to all ranks of the next
        // block or half.
        const Program own = program(algorithm, {ranks, 4, form}, tuning, ranks - 3);
        EXPECT_LE(own.steps.size(), 3 * 20 + 2u) << algorithm.name;
        EXPECT_LE(Dependences(own).edges(), 4 * 20 + 4u) << algorithm.name;
    });
}

} // namespace
} // namespace sextant::scan
