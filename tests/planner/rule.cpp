// SPDX-License-Identifier: BSD-3-Clause
// What `auto` takes, and what a name and a tuning make of it.
#include "sextant/planner/rule.hpp"

#include "sextant/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::planner {
namespace {

using testing::HasSubstr;

constexpr bool threads = true, messages = false;

std::string chosen(const std::string& name, const compositing::Tuning& asked, int positions) {
    return choose(name, asked, positions, messages).text();
}

TEST(Rule, takes_direct_send_where_memory_is_shared_or_few_ranks_hold_images) {
    EXPECT_EQ(choose("auto", {}, 100, threads).text(), "direct-send");
    EXPECT_EQ(chosen("auto", {}, 8), "direct-send");
}

TEST(Rule, takes_factors_of_at_most_8_and_shift_based_where_there_are_none) {
    EXPECT_EQ(chosen("auto", {}, 48), "radix-k, radices 8,6");
    EXPECT_EQ(chosen("auto", {}, 9), "radix-k, radices 3,3");
    EXPECT_EQ(chosen("auto", {}, 11), "shift-based, window 1");
    EXPECT_EQ(chosen("auto", {}, 22), "shift-based, window 1");
}

TEST(Rule, counts_ranks_with_images_and_says_that_it_predicts_nothing) {
    for (int positions : {5, 16, 13}) {
        const std::string reason = choose("auto", {}, positions, messages).reason;
        EXPECT_THAT(reason, HasSubstr("rule, not predicted"));
        EXPECT_THAT(reason, HasSubstr(std::to_string(positions) + " ranks with images"));
    }
}

TEST(Rule, gives_way_to_what_is_asked_for) {
    EXPECT_EQ(chosen("auto", {{2, 3}, 0}, 6), "radix-k, radices 2,3");
    EXPECT_EQ(chosen("auto", {{}, 4}, 6), "shift-based, window 4");
    EXPECT_EQ(chosen("shift-based", {}, 6), "shift-based, window 1");
    EXPECT_EQ(chosen("direct-send", {{}, 2}, 6), "direct-send, window 2");
    EXPECT_EQ(choose("radix-k", {{2, 3}, 0}, 6, threads).reason, "asked for");
}

void expect_refused(const std::string& name, const compositing::Tuning& asked, int positions,
                    const std::string& why) {
    EXPECT_THAT([&] { choose(name, asked, positions, messages); },
                testing::ThrowsMessage<InvalidTask>(HasSubstr(why)));
}

TEST(Rule, refuses_what_an_algorithm_does_not_have_or_take) {
    expect_refused("radixk", {}, 8, "did you mean radix-k");
    expect_refused("direct-send", {{2, 4}, 0}, 8, "direct-send takes no radices");
    expect_refused("radix-k", {{}, 2}, 8, "radix-k takes no window");
    expect_refused("shift-based", {{}, -1}, 8, "a window of -1");
    expect_refused("radix-k", {{2, 3}, 0}, 8, "multiply to 6");
    expect_refused("binary-swap", {}, 6, "binary-swap does not take 6 ranks with images");
}

} // namespace
} // namespace sextant::planner
