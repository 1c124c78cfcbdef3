// SPDX-License-Identifier: BSD-3-Clause
// Two algorithms harder than any in the library, to know that the vocabulary carries them.
#include "tests/support/harder_schedules.hpp"
#include "tests/support/reference_prover.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Case;

TEST(Vocabulary, carries_the_parallel_pipeline_whose_partial_results_wrap_around) {
    for (int p = 1; p <= 13; ++p) {
        for (Elements elements :
             {Elements{0}, Elements{1}, Elements{5}, Elements{26}, Elements{4 * p + 1}}) {
            const Case c = test::pipeline_case(p, elements);
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
}

TEST(Vocabulary, carries_two_strided_blocks_as_one_message) {
    int strided = 0;
    const Case c = test::pipeline_case(5, 20);
    for (const Program& program : c.schedule) {
        for (const Step& step : program.steps) {
            if (!is_message(step.verb))
                continue;
            EXPECT_EQ(step.count, 1u);
            strided += program.regions_of(step)[0].count == 2;
        }
    }
    EXPECT_GT(strided, 0);
}

TEST(Vocabulary, the_pipeline_moves_what_its_formulas_say) {
    for (int p = 2; p <= 13; ++p) {
        const Elements n = 2 * (p - 1) * p; // so that the formulas below are whole
        const Proof proof = test::proved(test::pipeline_case(p, n));
        ASSERT_EQ(proof.error, "");
        EXPECT_EQ(proof.messages, p * (p - 1));
        EXPECT_EQ(proof.most_messages, p - 1);
        // mean n (p−1)/p (1 + (p−2)/2p), worst n (p−1)/p (1 + (p−2)/(p−1))
        EXPECT_EQ(proof.moved * 2 * p, n * (p - 1) * (2 * p + p - 2)) << p;
        EXPECT_EQ(proof.most_moved * p, n * (p - 1 + p - 2)) << p;
        EXPECT_EQ(proof.applications, n * (p - 1)) << p;
    }
}

TEST(Vocabulary, carries_bruck_s_all_to_all_with_messages_of_two_regions) {
    int of_two = 0;
    for (int p = 1; p <= 17; ++p) {
        for (Elements size : {0, 1, 3}) {
            const Case c = test::bruck_case(p, size);
            const Proof proof = prove(c.schedule, c.claim);
            EXPECT_EQ(proof.error, "") << c.name;
            EXPECT_EQ(proof.most_messages, size > 0 ? test::ceil_log2(p) : 0);
            for (const Step& step : c.schedule[0].steps)
                of_two += step.count == 2;
        }
    }
    EXPECT_GT(of_two, 0);
}

TEST(Vocabulary, both_are_right_by_the_reference_too) {
    for (int p : {1, 2, 3, 5, 6, 7}) {
        for (const Case& c : {test::pipeline_case(p, 4 * p + 1), test::bruck_case(p, 2)}) {
            EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
        }
    }
}

} // namespace
} // namespace sextant
