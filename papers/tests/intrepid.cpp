// SPDX-License-Identifier: BSD-3-Clause
// Partitions of the Blue Gene/P of the Radix-k paper, and mappings of ranks to their nodes.
#include "papers/intrepid.hpp"

#include "sextant/machine/installation.hpp"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::papers {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const std::vector<simulate::OrderedHost>& order) {
    std::vector<std::string> names;
    for (const simulate::OrderedHost& host : order)
        names.push_back(host.name);
    return names;
}

TEST(Intrepid, partitions_are_the_smallest_that_hold_the_nodes) {
    EXPECT_THAT(intrepid_partition(1024).extents, ElementsAre(8, 8, 16));
    EXPECT_THAT(intrepid_partition(1025).extents, ElementsAre(8, 8, 32));
    EXPECT_THAT(intrepid_partition(34816).extents, ElementsAre(40, 32, 32));
    EXPECT_FALSE(intrepid_partition(256).torus);
    EXPECT_TRUE(intrepid_partition(257).torus);
    EXPECT_THROW(intrepid_partition(40961), std::invalid_argument);
}

TEST(Intrepid, platforms_have_the_shape_and_the_costs_of_the_shipped_ones) {
    const simulate::Platform platform = intrepid({{4, 2, 3}});
    const simulate::Platform shipped =
        simulate::read_platform(machine::shared_file(simulate::platforms, "torus-8x8x8"));
    EXPECT_EQ(platform.network.hosts.size(), 24u);
    EXPECT_EQ(platform.costs, shipped.costs);
    EXPECT_EQ(simulate::path_of(platform.network, 0, 3).size(), 1u); // by the wrap-around link
    EXPECT_EQ(simulate::path_of(intrepid({{4, 2, 3}, false}).network, 0, 3).size(), 3u);
    EXPECT_EQ(simulate::path_of(intrepid({{4, 2, 3}}, 1e9).network, 0, 3).size(), 3u);
}

TEST(Intrepid, opposite_messages_share_links_that_are_half_duplex) {
    const Extents extents{4, 3, 5};
    const simulate::Network duplex = intrepid({extents}).network;
    const simulate::Network half = half_duplex(intrepid({extents}), extents).network;
    for (const auto& [from, to] : {std::pair{0, 1}, {0, 3}, {0, 4}, {0, 8}, {0, 12}, {0, 48}}) {
        EXPECT_NE(simulate::path_of(duplex, from, to), simulate::path_of(duplex, to, from));
        EXPECT_EQ(simulate::path_of(half, from, to), simulate::path_of(half, to, from));
    }
    std::set<int> used;
    for (int host = 0; host < 4; ++host)
        used.insert(simulate::path_of(half, host, (host + 1) % 4).front());
    EXPECT_EQ(used.size(), 4u);
}

TEST(Intrepid, blocks_are_filled_one_after_another) {
    const std::string shipped = machine::shared_file(simulate::orders, "blocks-8x8x4");
    EXPECT_EQ(names(in_blocks({8, 8, 4}, {2, 2, 2})), names(simulate::read_order(shipped)));
    EXPECT_THAT(names(in_blocks({4, 2, 1}, {2, 2, 1})),
                ElementsAre("n0", "n1", "n4", "n5", "n2", "n3", "n6", "n7"));
    const auto plain = names(in_blocks({4, 4, 4}, {4, 4, 4}));
    const auto nested = names(in_blocks({4, 4, 4}, {4, 4, 4}, true));
    EXPECT_EQ(plain[8], "n8");
    EXPECT_EQ(nested, names(in_blocks({4, 4, 4}, {2, 2, 2})));
}

} // namespace
} // namespace sextant::papers
