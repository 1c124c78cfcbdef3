// SPDX-License-Identifier: BSD-3-Clause
// Networks as data: the links of a message, and the number of messages on a link.
#include "sextant/lab/reproduce_shift_based.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/simulate/platform.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/simulate/cases.hpp"
#include <gtest/gtest.h>

namespace sextant::simulate {
namespace {

Network shipped_network(const std::string& name) {
    return read_platform(test::shipped(name + ".json")).network;
}

using lab::most_load;
using lab::most_load_of_shifts;
using lab::shift;

TEST(Network, d_mod_k_routes_shifts_without_contention) {
    EXPECT_EQ(most_load_of_shifts(shipped_network("fat-tree-144-calibrated"), 144), 1);
    EXPECT_EQ(most_load_of_shifts(shipped_network("fat-tree-576-parallel"), 576), 1);
    EXPECT_EQ(most_load_of_shifts(shipped_network("crossbar-12-calibrated"), 12), 1);
}

TEST(Network, shifts_contend_unless_leaf_switches_are_fully_used) {
    const Network tree = shipped_network("fat-tree-144-calibrated");
    EXPECT_EQ(most_load_of_shifts(tree, 60), 1);
    EXPECT_GE(most_load_of_shifts(tree, 61), 2);
    EXPECT_GE(most_load_of_shifts(tree, 71), 2);
    EXPECT_EQ(most_load_of_shifts(tree, 72), 1);
}

TEST(Network, min_hop_and_random_routes_cause_contention_of_shifts) {
    EXPECT_GE(most_load(shipped_network("fat-tree-144-min-hop"), shift(144, 13)), 2);
    EXPECT_GE(most_load(shipped_network("fat-tree-144-random"), shift(144, 13)), 2);
}

TEST(Network, a_leaf_switch_without_balanced_ports_sends_all_messages_to_one_spine) {
    EXPECT_EQ(most_load(shipped_network("fat-tree-144-first-port"), shift(144, 12)), 12);
    EXPECT_EQ(most_load(shipped_network("fat-tree-144-first-port"), shift(12, 1)), 1);
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

TEST(Network, messages_halfway_around_a_torus_use_both_directions_equally) {
    std::vector<lab::HostMessage> halfway;
    for (int x = 0; x < 8; ++x)
        halfway.push_back({x, (x + 4) % 8});
    EXPECT_EQ(most_load(shipped_network("torus-8x8x4"), halfway), 2);
}

TEST(Network, ranks_of_a_node_share_its_link) {
    const Network cluster = shipped_network("cluster-64x128");
    const std::vector<int> path = path_of(cluster, 5, 5);
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(cluster.links[static_cast<std::size_t>(path[0])].name, "n5-within");
    EXPECT_DOUBLE_EQ(cluster.links[static_cast<std::size_t>(path[0])].bytes_per_second, 200e9);
}

/// Hoefler, Schneider, Lumsdaine (Cluster 2008): random pairs get 55 to 60 % of the bisection
/// bandwidth of large clusters. The fraction decreases as clusters grow.
TEST(Network, random_halves_of_a_fat_tree_get_slightly_more_than_half_of_its_bisection) {
    const Network tree = shipped_network("fat-tree-1728");
    std::mt19937 draw(1);
    double sum = 0;
    constexpr int trials = 20;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<int> hosts(1728);
        std::iota(hosts.begin(), hosts.end(), 0);
        std::shuffle(hosts.begin(), hosts.end(), draw);
        std::vector<lab::HostMessage> flows;
        for (std::size_t i = 0; i < hosts.size(); i += 2) {
            flows.push_back({hosts[i], hosts[i + 1]});
            flows.push_back({hosts[i + 1], hosts[i]});
        }
        sum += lab::mean_share(tree, flows);
    }
    EXPECT_GT(sum / trials, .40);
    EXPECT_LT(sum / trials, .65);
}

} // namespace
} // namespace sextant::simulate
