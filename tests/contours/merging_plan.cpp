// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/merging_plan.hpp"

#include "sextant/contour/tile_lists.hpp"
#include "sextant/machine/profile_file.hpp"

#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

distributed::MergingPlan on(const char* machine, const Grid& grid, double density) {
    const machine::Profile profile =
        machine::read_profile(test::source_dir() + "/machines/" + machine + ".json");
    return distributed::plan_merging(
        grid, density, {.machine = profile, .element_size = sizeof(contour::Crossing)});
}

TEST(MergingPlan, compares_every_pattern_and_chooses_the_fastest) {
    const distributed::MergingPlan plan = on("das", {2048, 2048, 4, 4}, .25);
    ASSERT_EQ(plan.alternatives.size(), contour::catalogue().size());
    EXPECT_EQ(plan.alternatives.front().configuration, plan.configuration);
    ASSERT_TRUE(plan.expected());
    for (const auto& other : plan.alternatives) {
        if (other.expected) {
            EXPECT_GE(other.expected->seconds, *plan.expected());
        }
    }
}

TEST(MergingPlan, predicts_longer_times_for_denser_edges) {
    const auto seconds = [](double density) {
        return on("das", {2048, 2048, 4, 4}, density).expected().value();
    };
    EXPECT_GT(seconds(.5), 2 * seconds(.05));
}

TEST(MergingPlan, merges_neighbours_first_for_dense_edges) {
    EXPECT_EQ(on("das", {2048, 2048, 4, 4}, .5).configuration->name, "logp-lev-quad");
}

TEST(MergingPlan, is_written_as_json) {
    const std::string json = json_of(on("das", {512, 512, 2, 2}, .1)).text();
    EXPECT_THAT(json, testing::HasSubstr("\"density\""));
    EXPECT_THAT(json, testing::HasSubstr("\"logp-lev-bal\""));
}

} // namespace
} // namespace sextant::test
