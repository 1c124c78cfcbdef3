// SPDX-License-Identifier: BSD-3-Clause
// An algorithm more complex than those of the library, to test that schedules can express it.
#include "tests/support/bruck.hpp"
#include "tests/support/reference_prover.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Case;

TEST(BruckAllToAll, is_proved_with_messages_of_two_regions) {
    int of_two = 0, strided = 0;
    for (int p = 1; p <= 17; ++p) {
        for (Elements size : {0, 1, 3}) {
            const Case c = test::bruck_case(p, size);
            const Proof proof = prove(c.schedule, c.claim);
            EXPECT_EQ(proof.error, "") << c.name;
            EXPECT_EQ(proof.most_messages, size > 0 ? test::ceil_log2(p) : 0);
            for (const Step& step : c.schedule[0].steps) {
                of_two += step.count == 2;
                strided += is_message(step.verb) && c.schedule[0].regions_of(step)[0].count > 1;
            }
        }
    }
    EXPECT_GT(of_two, 0);
    EXPECT_GT(strided, 0);
}

TEST(BruckAllToAll, agrees_with_the_slow_reference_implementation) {
    for (int p : {1, 2, 3, 5, 6, 7}) {
        const Case c = test::bruck_case(p, 2);
        EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
    }
}

} // namespace
} // namespace sextant
