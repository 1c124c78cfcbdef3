// SPDX-License-Identifier: BSD-3-Clause
// Cost of merging lists of realistic lengths on 256 processors of the Intel Delta, by the C3 model.
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/merging.hpp"

#include <map>
#include <string>

#include "tests/model/machines.hpp"
#include "tests/support/merging_charges.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Cost of a pattern on the Intel Delta.
MergingCharge charged(const contour::Pattern& pattern, Elements side, double entering) {
    return merging_charge(pattern, {side, side, 16, 16}, entering, shipped_machine("delta256"));
}

TEST(BorderLength, counts_only_edges_inside_the_image) {
    const Grid grid{40, 20, 4, 2};
    const contour::Order order(grid, contour::find("2-lev-rc").stages(grid));
    EXPECT_EQ(contour::border_length(order, {0, 8}), 0) << "the whole image";
    EXPECT_EQ(contour::border_length(order, {0, 4}), 40) << "the upper row of tiles";
    EXPECT_EQ(contour::border_length(order, {order.position(0), order.position(0) + 1}), 20);
    EXPECT_EQ(contour::border_length(order, {order.position(1), order.position(1) + 1}), 30);
}

TEST(MergingCosts, include_one_setup_per_message_of_the_busiest_processor) {
    const std::map<std::string_view, double> expected = {
        {"1-lev-dir", 8}, {"2-lev-rc", 8}, {"logp-lev-quad", 8}, {"logp-lev-bal", 10}};
    for (const contour::Pattern& pattern : contour::catalogue())
        EXPECT_DOUBLE_EQ(charged(pattern, 512, .5).setups, expected.at(pattern.name))
            << pattern.name;
}

TEST(MergingCosts, are_smallest_for_quads_and_largest_for_the_direct_pattern) {
    for (const Elements side : {512, 2048}) {
        const auto packets = [&](std::string_view name) {
            return charged(contour::find(name), side, .5).packets;
        };
        EXPECT_LT(packets("logp-lev-quad"), packets("2-lev-rc"));
        EXPECT_LT(packets("2-lev-rc"), packets("1-lev-dir"));
    }
}

TEST(MergingCosts, are_lower_on_reversed_hosts_excluding_the_cost_of_moving_lists) {
    const MergingCharge quad = charged(contour::find("logp-lev-quad"), 2048, .5);
    const MergingCharge balanced = charged(contour::find("logp-lev-bal"), 2048, .5);
    EXPECT_LT(balanced.packets - balanced.moving, quad.packets);
    RecordProperty("quad", std::to_string(quad.packets));
    RecordProperty("bal", std::to_string(balanced.packets));
    RecordProperty("moving", std::to_string(balanced.moving));
}

} // namespace
} // namespace sextant::test
