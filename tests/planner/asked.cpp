// SPDX-License-Identifier: BSD-3-Clause
// Applies a requested algorithm and parameters to a task.
#include "sextant/core/error.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <gmock/gmock.h>

namespace sextant::planner {
namespace {

std::string chosen(const std::string& name, const compositing::Tuning& requested, int positions) {
    return choose_by_name(name, requested, positions).text();
}

TEST(RequestedConfiguration, uses_defaults_for_parameters_that_were_not_given) {
    EXPECT_EQ(chosen("shift-based", {}, 6), "shift-based, window 1");
    EXPECT_EQ(chosen("direct-send", {{}, 2}, 6), "direct-send, window 2");
    EXPECT_EQ(chosen("radix-k", {}, 48), "radix-k, radices 8,6");
    EXPECT_EQ(chosen("radix-k", {}, 22), "radix-k, radices 22");
    EXPECT_EQ(choose_by_name("radix-k", {{2, 3}, 0}, 6).reason, "requested");
}

TEST(RequestedConfiguration, refuses_parameters_that_an_algorithm_does_not_use) {
    EXPECT_THROW(choose_by_name("direct-send", {{2, 4}, 0}, 8), InvalidTask);
    EXPECT_THROW(choose_by_name("radix-k", {{}, 2}, 8), InvalidTask);
    EXPECT_THROW(choose_by_name("shift-based", {{}, -1}, 8), InvalidTask);
}

std::vector<std::string> texts(int ranks, const compositing::Tuning& requested) {
    std::vector<std::string> all;
    for (const compositing::Configuration& configuration :
         configurations_with(compositing::one_image_each(ranks, 100), requested))
        all.push_back(configuration.text());
    return all;
}

TEST(RequestedConfiguration, restricts_candidates_to_the_given_tuning) {
    EXPECT_THAT(texts(6, {{2, 3}, 0}), testing::ElementsAre("radix-k, radices 2,3"));
    EXPECT_THAT(texts(65536, {{4, 16, 4, 16, 16}, 0}),
                testing::ElementsAre("radix-k, radices 4,16,4,16,16"));
    EXPECT_THAT(texts(6, {{}, 4}),
                testing::ElementsAre("direct-send, window 4", "shift-based, window 4",
                                     "parallel-pipeline, window 4"));
    EXPECT_THAT(texts(4, {}), testing::IsSupersetOf({"direct-send", "radix-k, radices 2,2",
                                                     "binary-swap", "binary-tree"}));
    EXPECT_THROW(texts(6, {{2, 2}, 0}), InvalidTask);
    EXPECT_THROW(texts(6, {{2, 3}, 4}), InvalidTask);
}

} // namespace
} // namespace sextant::planner
