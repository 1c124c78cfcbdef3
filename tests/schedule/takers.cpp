// SPDX-License-Identifier: BSD-3-Clause
// Results that are used by a single send can be written directly into the receiver's buffer.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/lender.hpp"
#include "tests/support/written.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Lender;
using test::written;

TEST(DirectWrite, is_possible_if_one_message_sends_the_whole_result_of_a_fold) {
    const std::string begin = "input in 4; scratch slot 4; scratch sum 4; receive 1 slot; "
                              "fold sum in slot; ";
    for (const auto& [what, text, taker] : {
             std::tuple("sent by step 2", "send 0 sum; copy sum in; result in", 2),
             {"not sent", "result in", -1},
             {"a part is sent", "send 0 sum[1+3]; result in", -1},
             {"sent with other elements", "send 0 sum in; result in", -1},
             {"sent twice", "send 0 sum; send 2 sum; result in", -1},
             {"folded too", "send 0 sum; fold sum sum in; result in", -1},
             {"in the result too", "send 0 sum; result sum", -1},
             {"changed before it is sent", "copy sum[0+1] in[0+1]; send 0 sum; result in", -1},
         })
        EXPECT_EQ(Lender(written(begin + text)).loans.taker(1), taker) << what;
}

TEST(DirectWrite, is_possible_if_one_message_sends_all_results_of_kernels) {
    const std::string begin = "input in 8; scratch made 8; compute in[0+4] made[0+4]; "
                              "compute in[4+4] made[4+4]; ";
    for (const auto& [what, text, takes] : {
             std::tuple("sent by step 2", "send 0 made; copy made in; result in", true),
             {"other elements are sent", "in_out other 12; send 0 other; result in", false},
             {"a part is sent again", "send 0 made; send 1 made[6+2]; result in", false},
             {"a part is sent", "send 0 made[2+6]; result in", false},
             {"sent in pieces", "send 0 made[0+4] made[4+4]; result in", false},
             {"partly in the result too", "send 0 made; result made[0+1]", false},
             {"copied too", "scratch kept 8; send 0 made; copy kept made; result kept", false},
         }) {
        const Lender lender(written(begin + text));
        const std::vector<std::uint32_t> halves = lender.loans.made_for(2);
        EXPECT_EQ(lender.loans.takes_made(2), takes) << what;
        EXPECT_EQ(halves.size(), takes ? 2u : 0u) << what;
        for (const std::uint32_t half : halves)
            EXPECT_EQ(lender.loans.taker_of_made(half), 2) << what;
    }
}

TEST(DirectWrite, is_refused_if_other_steps_also_write_the_region) {
    const Lender lender(written("input in 8; scratch made 8; compute in[0+4] made[0+4]; "
                                "copy made[4+4] in[4+4]; send 0 made; send 1 in[0+4]"));
    EXPECT_FALSE(lender.loans.takes_made(2));
    EXPECT_FALSE(lender.loans.takes_made(3)) << "an input, not a result";
}

} // namespace
} // namespace sextant
