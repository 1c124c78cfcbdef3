// SPDX-License-Identifier: BSD-3-Clause
// The number of messages on a link of the papers' networks.
#include <algorithm>
#include <numeric>
#include <random>

#include "papers/experiments.hpp"
#include "papers/shift_based.hpp"
#include <gtest/gtest.h>

namespace sextant::papers {
namespace {

simulate::Network network_of(const std::string& platform) {
    return shipped_platform(platform).network;
}

TEST(Loads, d_mod_k_routes_shifts_without_contention) {
    EXPECT_EQ(most_load_of_shifts(network_of("fat-tree-144-calibrated"), 144), 1);
    EXPECT_EQ(most_load_of_shifts(network_of("fat-tree-576-parallel"), 576), 1);
    EXPECT_EQ(most_load_of_shifts(network_of("crossbar-12-calibrated"), 12), 1);
}

TEST(Loads, shifts_contend_unless_leaf_switches_are_fully_used) {
    const simulate::Network tree = network_of("fat-tree-144-calibrated");
    EXPECT_EQ(most_load_of_shifts(tree, 60), 1);
    EXPECT_GE(most_load_of_shifts(tree, 61), 2);
    EXPECT_GE(most_load_of_shifts(tree, 71), 2);
    EXPECT_EQ(most_load_of_shifts(tree, 72), 1);
}

TEST(Loads, min_hop_and_random_routes_cause_contention_of_shifts) {
    EXPECT_GE(most_load(network_of("fat-tree-144-min-hop"), shift(144, 13)), 2);
    EXPECT_GE(most_load(network_of("fat-tree-144-random"), shift(144, 13)), 2);
}

TEST(Loads, a_leaf_switch_without_balanced_ports_sends_all_messages_to_one_spine) {
    EXPECT_EQ(most_load(network_of("fat-tree-144-first-port"), shift(144, 12)), 12);
    EXPECT_EQ(most_load(network_of("fat-tree-144-first-port"), shift(12, 1)), 1);
}

TEST(Loads, messages_halfway_around_a_torus_use_both_directions_equally) {
    std::vector<HostMessage> halfway;
    for (int x = 0; x < 8; ++x)
        halfway.push_back({x, (x + 4) % 8});
    EXPECT_EQ(most_load(network_of("torus-8x8x4"), halfway), 2);
}

/// Hoefler, Schneider, Lumsdaine (Cluster 2008): random pairs get 55 to 60 % of the bisection
/// bandwidth of large clusters. The fraction decreases with the size of the cluster.
TEST(Loads, random_halves_of_a_fat_tree_get_slightly_more_than_half_of_its_bisection) {
    const simulate::Network tree = network_of("fat-tree-1728");
    std::mt19937 draw(1);
    double sum = 0;
    constexpr int trials = 20;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<int> hosts(1728);
        std::iota(hosts.begin(), hosts.end(), 0);
        std::shuffle(hosts.begin(), hosts.end(), draw);
        std::vector<HostMessage> flows;
        for (std::size_t i = 0; i < hosts.size(); i += 2) {
            flows.push_back({hosts[i], hosts[i + 1]});
            flows.push_back({hosts[i + 1], hosts[i]});
        }
        sum += mean_share(tree, flows);
    }
    EXPECT_GT(sum / trials, .40);
    EXPECT_LT(sum / trials, .65);
}

} // namespace
} // namespace sextant::papers
