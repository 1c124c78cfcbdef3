// SPDX-License-Identifier: BSD-3-Clause
// Statements of the Shift-Based paper on routing: contention is counted on links or simulated.
#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "papers/experiments.hpp"
#include "papers/shift_based.hpp"
#include <fmt/format.h>

namespace sextant::papers {

std::vector<int> loads(const simulate::Network& network, std::span<const HostMessage> flows) {
    std::vector<int> loads(network.links.size());
    std::vector<int> path;
    for (const HostMessage& flow : flows) {
        path.clear();
        network.route(flow.from, flow.to, path);
        for (const int link : path)
            ++loads[static_cast<std::size_t>(link)];
    }
    return loads;
}

int most_load(const simulate::Network& network, std::span<const HostMessage> flows) {
    const std::vector<int> all = loads(network, flows);
    return *std::max_element(all.begin(), all.end());
}

std::vector<HostMessage> shift(int ranks, int by) {
    std::vector<HostMessage> flows;
    for (int rank = 0; rank < ranks; ++rank)
        flows.push_back({rank, (rank + by) % ranks});
    return flows;
}

int most_load_of_shifts(const simulate::Network& network, int ranks) {
    int most = 0;
    for (int by = 1; by < ranks; ++by)
        most = std::max(most, most_load(network, shift(ranks, by)));
    return most;
}

double mean_share(const simulate::Network& network, std::span<const HostMessage> flows) {
    const std::vector<int> all = loads(network, flows);
    double sum = 0;
    for (const HostMessage& flow : flows) {
        int busiest = 1;
        for (const int link : simulate::path_of(network, flow.from, flow.to))
            busiest = std::max(busiest, all[static_cast<std::size_t>(link)]);
        sum += 1.0 / busiest;
    }
    return flows.empty() ? 1 : sum / static_cast<double>(flows.size());
}

namespace {

// Section 2.1.3.

/// The mean fraction of a link's bandwidth for random pairs of hosts.
double bisection(const std::string& platform) {
    const simulate::Network tree = shipped_platform(platform).network;
    std::mt19937_64 draw(1);
    std::vector<int> hosts(tree.hosts.size());
    std::iota(hosts.begin(), hosts.end(), 0);
    double sum = 0;
    constexpr int trials = 50;
    for (int trial = 0; trial < trials; ++trial) {
        for (std::size_t i = hosts.size(); i > 1; --i)
            std::swap(hosts[i - 1], hosts[draw() % i]);
        std::vector<HostMessage> flows;
        for (std::size_t i = 0; i + 1 < hosts.size(); i += 2) {
            flows.push_back({hosts[i], hosts[i + 1]});
            flows.push_back({hosts[i + 1], hosts[i]});
        }
        sum += mean_share(tree, flows);
    }
    return sum / trials;
}

Result random_bisection(Extent) {
    Result result{"fraction of a cable's bandwidth between random pairs of hosts", {"counted"}};
    for (const auto& [label, platform] :
         {std::pair("144 hosts, d-mod-k", "fat-tree-144"),
          std::pair("144 hosts, random routes", "fat-tree-144-random"),
          std::pair("1,728 hosts, d-mod-k", "fat-tree-1728")})
        result.rows.push_back({label, .575, {bisection(platform)}});
    const double small = result.rows.front().ours[0], large = result.rows.back().ours[0];
    result.claims = {
        {"the probability of interconnect hot spots increases with the size of cluster",
         large < small,
         fmt::format(
             "with d-mod-k, pairs get {:.0f} % of the bandwidth on 144 hosts and {:.0f} % on "
             "1,728",
             100 * small, 100 * large)},
        unknown("LMC-based routing strategies can be seen as counter-productive at large scale",
                "a simulated network has one route for each pair of hosts")};
    return result;
}

// Section 2.1.1: the routing engines of OpenSM.

struct RoutingEngine {
    const char* label;
    const char* platform;
    int nodes;
};

constexpr RoutingEngine engines[] = {
    {"Fat-tree, d-mod-k", "fat-tree-144", 144},
    {"Min Hop, UPDN", "fat-tree-144-min-hop", 144},
    {"LASH, DOR: the first port", "fat-tree-144-first-port", 144},
    {"file: a table for Binary-Swap", "fat-tree-144-binary-swap", 144},
    {"random", "fat-tree-144-random", 144},
    {"Fat-tree, 10 of 12 hosts per leaf", "fat-tree-120-partly-filled", 120}};

Result routing_engines(Extent extent) {
    Result result{"frames per second, links shared without loss, 4096x2048, free blending",
                  {"most messages of a shift on a cable", "shift-based", "radix-k"}};
    if (extent == Extent::whole)
        result.columns.push_back("direct-send");
    for (const RoutingEngine& engine : engines) {
        const simulate::Platform platform = shipped_platform(engine.platform);
        Row row{fmt::format("{}, {} nodes", engine.label, engine.nodes),
                {},
                {double(most_load_of_shifts(platform.network, engine.nodes))}};
        for (std::size_t column = 1; column < result.columns.size(); ++column) {
            const std::string& algorithm = result.columns[column];
            const std::vector<int> radices =
                algorithm == "radix-k" ? std::vector{12, engine.nodes / 12} : std::vector<int>{};
            row.ours.push_back(
                1 / composite(algorithm, engine.nodes, 8 * mega, {engine.platform}, radices));
        }
        result.rows.push_back(row);
    }
    const double best = result.rows[0].ours[1];
    double least = best, most = 0;
    for (std::size_t i = 1; i + 1 < result.rows.size(); ++i) {
        least = std::min(least, result.rows[i].ours[1]);
        most = std::max(most, result.rows[i].ours[1]);
    }
    const simulate::Network tree = shipped_platform("fat-tree-144").network;
    result.claims = {
        {"[Parallel Pipeline:] contention free communication can be achieved using Fat-tree "
         "Unicast routing if the processes are placed with sufficient care",
         most_load(tree, shift(144, 1)) == 1 && most_load(tree, shift(64, 1)) == 1,
         "at most one message of the ring on each cable, 144 or 64 nodes in order"},
        {"the Fat-tree Unicast routing engine provides routing tables for contention free shift "
         "communication pattern",
         result.rows[0].ours[0] == 1, "at most one message of a shift on each cable, 144 nodes"},
        {"a given communication pattern can either achieve satisfactory performance or can lead to "
         "heavy contention for different routing strategies",
         most < .6 * best,
         fmt::format("Shift-Based: {:.1f} frames per second with d-mod-k, {:.1f} to {:.1f} with "
                     "the other engines",
                     best, least, most)}};
    return result;
}

// Section 4: a routing for Binary-Swap.

/// The maximum number of messages that share a link in any round of Binary-Swap.
int most_load_of_swaps(const simulate::Network& network, int ranks) {
    int most = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
        std::vector<HostMessage> flows;
        for (int rank = 0; rank < ranks; ++rank)
            flows.push_back({rank, rank ^ distance});
        most = std::max(most, most_load(network, flows));
    }
    return most;
}

Result binary_swap_routing(Extent) {
    constexpr int ranks = 128;
    Result result{"maximum number of messages of a round on one cable", {"counted"}};
    for (const char* platform : {"fat-tree-144", "fat-tree-144-binary-swap"}) {
        const simulate::Network tree = shipped_platform(platform).network;
        result.rows.push_back({platform, {}, {double(most_load_of_swaps(tree, ranks))}});
    }
    result.claims.push_back(
        {"a routing scheme (different from the Fat-tree Unicast routing) could be computed to "
         "provide contention-free communication for the Binary Swap communication pattern",
         result.rows.back().ours.back() == 1,
         "with the table of fat-tree-144-binary-swap, 128 ranks in order have no contention"});
    return result;
}

// Section 6: larger trees.

/// A tree of 1,728 hosts with the loss and the blending rate fitted to the paper's cluster.
simulate::Platform large_tree() {
    simulate::Platform tree = shipped_platform("fat-tree-1728");
    const simulate::Platform fitted = shipped_platform("fat-tree-144-calibrated");
    tree.loss = fitted.loss;
    tree.costs = fitted.costs;
    return tree;
}

Result larger_trees(Extent extent) {
    Result result{"frames per second, 4096x2048, calibrated",
                  {"shift-based", "direct-send", "ratio"}};
    const simulate::Platform tree = large_tree();
    std::vector<int> counts{144, 576};
    if (extent == Extent::whole)
        counts = {144, 288, 432, 576};
    for (const int nodes : counts) {
        const auto rate = [&](const char* algorithm) {
            return 1 / run(compositing_schedule(algorithm, nodes, 8 * mega), 16, {}, tree).seconds;
        };
        const double shifts = rate("shift-based"), direct = rate("direct-send");
        result.rows.push_back(
            {fmt::format("{} nodes of 1,728", nodes), {}, {shifts, direct, shifts / direct}});
    }
    const int most = most_load_of_shifts(tree.network, 1728);
    result.claims = {
        {"our conclusions can be extended to the case of much larger IB fat-trees, as long as a "
         "routing mechanism, such as the d-mod-k routing, can be found to provide non-blocking "
         "traffic for shift permutations",
         most == 1, fmt::format("at most {} message of a shift on each cable, 1,728 nodes", most)},
        {"the difference will be even bigger at higher processor counts",
         result.rows.back().ours[2] > result.rows.front().ours[2],
         fmt::format("Shift-Based is {:.2f} times as fast as Direct-Send on {} nodes, {:.2f} times "
                     "on {}",
                     result.rows.front().ours[2], counts.front(), result.rows.back().ours[2],
                     counts.back())}};
    return result;
}

constexpr std::string_view paper_of_routing = "shift-based";
constexpr Experiment routing_experiments[] = {
    {paper_of_routing, "section 2.1.3", "random bisection",
     "links are counted, not simulated; 55 to 60 % is from Hoefler et al. 2008",
     "144 hosts are a small cluster, with fewer messages per cable", random_bisection},
    {paper_of_routing, "section 2.1.1", "the routing engines of OpenSM",
     "links shared without loss, no fitted parameters. On a tree, all shortest paths go up and "
     "then down, so UPDN selects the ports of Min Hop; LASH and DOR do not balance ports, and use "
     "the first port of a leaf switch for all other leaves",
     "", routing_engines},
    {paper_of_routing, "section 4", "a routing for Binary-Swap", "links are counted, not simulated",
     "", binary_swap_routing},
    {paper_of_routing, "section 6", "larger trees",
     "a 12-ary 3-tree of 1,728 hosts, d-mod-k, with the loss and the blending rate of "
     "fat-tree-144-calibrated; nodes in order",
     "", larger_trees}};

} // namespace

constinit const std::span<const Experiment> shift_based_routing = routing_experiments;

} // namespace sextant::papers
