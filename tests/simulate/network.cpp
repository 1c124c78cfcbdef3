// SPDX-License-Identifier: BSD-3-Clause
// Networks as data: the links of a message.
#include "sextant/machine/topology.hpp"
#include "sextant/simulate/platform.hpp"

#include "tests/simulate/cases.hpp"
#include <gtest/gtest.h>

namespace sextant::simulate {
namespace {

Network shipped_network(const std::string& name) {
    return read_platform(test::shipped(name + ".json")).network;
}

/// Every path begins and ends with the cables of its hosts and has the minimum length.
TEST(Network, paths_in_a_fat_tree_ascend_only_as_far_as_necessary) {
    const Network tree = shipped_network("fat-tree-1728");
    EXPECT_EQ(path_of(tree, 0, 11).size(), 2u);
    EXPECT_EQ(path_of(tree, 0, 12).size(), 4u);
    EXPECT_EQ(path_of(tree, 0, 143).size(), 4u);
    EXPECT_EQ(path_of(tree, 0, 144).size(), 6u);
    const auto name = [&](int link) { return tree.links[static_cast<std::size_t>(link)].name; };
    const std::vector<int> path = path_of(tree, 1727, 5);
    EXPECT_EQ(name(path.front()), "0-1727-up-0");
    EXPECT_EQ(name(path.back()), "0-5-down-0");
}

TEST(Network, distances_on_meshes_and_tori_are_those_of_their_topology) {
    for (const auto& [name, shape] : {std::pair("mesh-8x8x4", machine::Shape::mesh),
                                      std::pair("torus-8x8x4", machine::Shape::torus)}) {
        const Network network = shipped_network(name);
        std::size_t hops = 0;
        for (int from = 0; from < 256; ++from) {
            for (int to = 0; to < 256; ++to)
                hops += from == to ? 0 : path_of(network, from, to).size();
        }
        const double mean = machine::exact_wiring({shape, {8, 8, 4}}).latency;
        EXPECT_DOUBLE_EQ(static_cast<double>(hops) / (256 * 256), mean) << name;
    }
}

TEST(Network, ranks_of_a_node_share_its_link) {
    const Network cluster = shipped_network("cluster-64x128");
    const std::vector<int> path = path_of(cluster, 5, 5);
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(cluster.links[static_cast<std::size_t>(path[0])].name, "n5-within");
    EXPECT_DOUBLE_EQ(cluster.links[static_cast<std::size_t>(path[0])].bytes_per_second, 200e9);
}

} // namespace
} // namespace sextant::simulate
