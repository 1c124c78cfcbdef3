// SPDX-License-Identifier: BSD-3-Clause
// Networks as data: the links of a message.
#include "sextant/machine/topology.hpp"
#include "sextant/simulate/platform.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/simulate/cases.hpp"
#include <fmt/format.h>
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

/// The links of each path lead from vertex to vertex, from the first host (or its port) to the
/// last.
TEST(Network, paths_follow_the_ends_of_their_links) {
    const std::string rails = R"({"version": 1, "name": "rails", "source": "a test", "network":
        {"shape": "dragonfly", "groups": 4, "routers": [3, 2], "hosts": 2, "routing": "valiant",
         "seed": 1, "local": {"bytes_per_second": 2, "latency": 0}, "global": {"cables": 2,
         "bytes_per_second": 3, "latency": 0}}, "links": {"bytes_per_second": 1, "latency": 0}})";
    std::vector<Network> networks{parse_platform(rails, "rails.json").network};
    for (const char* name : {"crossbar-12", "delta-16x16", "dragonfly-72", "fat-tree-144",
                             "fat-tree-576-parallel", "mesh-8x8x4", "torus-4x4x2"})
        networks.push_back(shipped_network(name));
    for (const Network& network : networks) {
        const auto hosts = static_cast<int>(network.hosts.size());
        for (int from = 0; from < hosts; from += 1 + hosts / 100) {
            for (int to = 0; to < hosts; ++to) {
                if (to == from)
                    continue; // takes no link
                int at = from;
                for (const int link : path_of(network, from, to)) {
                    const Network::Link& taken = network.links[static_cast<std::size_t>(link)];
                    ASSERT_EQ(taken.ends[0], at) << taken.name;
                    at = taken.ends[1];
                }
                ASSERT_EQ(at, to);
            }
        }
    }
}

/// A dragonfly whose routers are `routers` per group; its links are named by kind.
Network dragonfly_of(const std::string& routers, int groups, int cables,
                     const std::string& routing = R"("minimal")") {
    const std::string text = fmt::format(
        R"({{"version": 1, "name": "small", "source": "a test", "network": {{"shape": "dragonfly",
            "groups": {}, "routers": {}, "hosts": 2, "routing": {}, "local":
            {{"bytes_per_second": 2, "latency": 0}}, "global": {{"bytes_per_second": 3,
            "latency": 0, "cables": {}}}}}, "links": {{"bytes_per_second": 1, "latency": 0}}}})",
        groups, routers, routing, cables);
    return parse_platform(text, "small.json").network;
}

/// The kinds of the links of a path: h, l and g for links of hosts, local and global links.
std::string kinds(const Network& network, int from, int to) {
    std::string kinds;
    for (const int link : path_of(network, from, to)) {
        const double rate = network.links.at(static_cast<std::size_t>(link)).bytes_per_second;
        kinds += rate == 1 ? 'h' : rate == 2 ? 'l' : 'g';
    }
    return kinds;
}

/// Records the router at each end of each link, and expects that all paths agree on these. Links
/// are one-way, so the router where one link ends and the next begins is found from both.
void expect_connected(const Network& network) {
    const auto links = network.links.size();
    std::vector<std::size_t> parent(2 * links); // union-find over begins and ends of links
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t at) {
        while (parent[at] != at)
            at = parent[at] = parent[parent[at]];
        return at;
    };
    const auto hosts = static_cast<int>(network.hosts.size());
    for (int from = 0; from < hosts; ++from) {
        for (int to = 0; to < hosts; ++to) {
            if (from == to)
                continue;
            const std::vector<int> path = path_of(network, from, to);
            EXPECT_EQ(path.front(), 2 * from);
            EXPECT_EQ(path.back(), 2 * to + 1);
            for (std::size_t i = 0; i + 1 < path.size(); ++i)
                parent[root(2 * static_cast<std::size_t>(path[i]) + 1)] =
                    root(2 * static_cast<std::size_t>(path[i + 1]));
        }
    }
    // Two routers that a wrong path confuses would be one: no link may begin where it ends.
    std::set<std::size_t> routers;
    for (std::size_t link = 0; link < links; ++link) {
        EXPECT_NE(root(2 * link), root(2 * link + 1)) << network.links[link].name;
        if (link < 2 * network.hosts.size() && link % 2 == 0)
            routers.insert(root(2 * link + 1));
    }
    EXPECT_EQ(routers.size(), network.hosts.size() / 2);
}

TEST(Network, minimal_paths_of_a_dragonfly_are_local_global_local) {
    for (const int cables : {1, 2, 5}) {
        const Network network = dragonfly_of("[4]", 9, cables);
        const std::set<std::string> known{"hh", "hlh", "hgh", "hlgh", "hglh", "hlglh"};
        std::set<int> used;
        for (int from = 0; from < 72; ++from) {
            for (int to = 0; to < 72; ++to) {
                EXPECT_TRUE(known.contains(kinds(network, from, to))) << kinds(network, from, to);
                const bool same_group = from / 8 == to / 8;
                EXPECT_EQ(kinds(network, from, to).find('g') == std::string::npos, same_group);
                for (const int link : path_of(network, from, to))
                    used.insert(link);
            }
        }
        if (cables == 1) {
            EXPECT_EQ(used.size(), network.links.size());
        }
        expect_connected(network);
    }
}

/// As in Cray's Aries, a group may be a grid whose rows and columns are each fully joined.
TEST(Network, routers_of_a_group_may_form_a_grid) {
    const Network network = dragonfly_of("[3, 2]", 4, 1);
    EXPECT_EQ(kinds(network, 0, 4), "hlh");
    EXPECT_EQ(kinds(network, 0, 6), "hlh");
    EXPECT_EQ(kinds(network, 0, 10), "hllh");
    expect_connected(network);
}

TEST(Network, valiant_paths_of_a_dragonfly_visit_a_third_group_and_are_the_same_each_time) {
    const std::string valiant = R"("valiant", "seed": 7)";
    const Network network = dragonfly_of("[4]", 9, 1, valiant),
                  again = dragonfly_of("[4]", 9, 1, valiant),
                  other = dragonfly_of("[4]", 9, 1, R"("valiant", "seed": 8)");
    int different = 0;
    for (int from = 0; from < 72; ++from) {
        for (int to = 0; to < 72; ++to) {
            const std::string path = kinds(network, from, to);
            EXPECT_LE(path.size(), 7u);
            EXPECT_EQ(std::count(path.begin(), path.end(), 'g'), from / 8 == to / 8 ? 0 : 2);
            EXPECT_EQ(path_of(network, from, to), path_of(again, from, to));
            different += path_of(network, from, to) != path_of(other, from, to) ? 1 : 0;
        }
    }
    EXPECT_GT(different, 72 * 64 / 2);
    expect_connected(network);
    // With two groups there is no third one.
    EXPECT_EQ(kinds(dragonfly_of("[1]", 2, 1, valiant), 0, 2), "hgh");
}

/// A crossbar of `hosts` ports, with nodes.
Platform with_nodes(int hosts, const std::string& node) {
    return parse_platform(
        fmt::format(R"({{"version": 1, "name": "small", "source": "a test", "network":
            {{"shape": "crossbar", "hosts": {}}}, "links": {{"bytes_per_second": 1e9,
            "latency": 1e-6}}, "node": {{{}}}}})",
                    hosts, node),
        "small.json");
}

std::string names(const Network& network, int from, int to) {
    std::string names;
    for (const int link : path_of(network, from, to))
        names += network.links.at(static_cast<std::size_t>(link)).name + " ";
    return names;
}

TEST(Network, ranks_of_a_crossbar_node_have_their_own_ports) {
    const Network network =
        with_nodes(2, R"("cores": 3, "inside": "crossbar", "bytes_per_second": 5, "latency": 1)")
            .network;
    EXPECT_EQ(names(network, 0, 2), "n0-0-out n0-2-in ");
    EXPECT_EQ(names(network, 5, 4), "n1-2-out n1-1-in ");
    EXPECT_EQ(names(network, 2, 3), "n0-out n1-in ");
    EXPECT_EQ(network.links.back().latency, .5);
}

TEST(Network, sockets_are_joined_by_a_link_in_each_direction) {
    const Network network = with_nodes(2, R"("cores": 4, "inside": "sockets", "sockets": 2,
        "bytes_per_second": 5, "latency": 1,
        "between_sockets": {"bytes_per_second": 3, "latency": 0.5})")
                                .network;
    EXPECT_EQ(names(network, 4, 5), "n1-socket0-0 ");
    EXPECT_EQ(names(network, 7, 6), "n1-socket1-1 ");
    EXPECT_EQ(names(network, 1, 2), "n0-socket0-1 ");
    EXPECT_EQ(names(network, 2, 1), "n0-socket1-0 ");
    EXPECT_EQ(
        network.links.at(static_cast<std::size_t>(path_of(network, 2, 1)[0])).bytes_per_second, 3);
}

TEST(Network, ranks_use_the_ports_that_the_file_states) {
    const std::string node = R"("cores": 4, "bytes_per_second": 5, "latency": 1, "ports": 2)";
    const auto network = [&](const std::string& more) {
        return with_nodes(8, node + more).network;
    };
    const Network modulo = network(R"(, "port_choice": "modulo")");
    EXPECT_EQ(modulo.hosts.size(), 4u);
    EXPECT_EQ(names(modulo, 0, 15), "n0-out n7-in ");
    EXPECT_EQ(names(modulo, 1, 4), "n1-out n2-in ");
    const Network nearest = network(R"(, "port_choice": "nearest")");
    EXPECT_EQ(names(nearest, 1, 5), "n0-out n2-in ");
    EXPECT_EQ(names(nearest, 2, 4), "n1-out n2-in ");
    // Port p of all nodes on hosts 4 p to 4 p + 3 of the shape.
    const Network rails = network(R"(, "port_choice": "modulo", "port_stride": 4)");
    EXPECT_EQ(names(rails, 1, 15), "n4-out n7-in ");
    const Network pairs = network(R"(, "port_choice": "modulo", "port_stride": 2)");
    EXPECT_EQ(names(pairs, 4, 9), "n1-out n6-in ");
    const Network striped = network(R"(, "port_choice": "striped")");
    EXPECT_EQ(names(striped, 0, 15), "n0-out n6-in n1-out n7-in ");
    EXPECT_EQ(striped.links.front().bytes_per_second, 2e9);
    EXPECT_EQ(striped.links.front().latency, .5e-6);
}

TEST(Network, ranks_of_a_node_share_its_link) {
    const Network cluster = shipped_network("cluster-64x128");
    const std::vector<int> path = path_of(cluster, 5 * 64, 5 * 64 + 63);
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(cluster.links[static_cast<std::size_t>(path[0])].name, "n5-within");
    EXPECT_DOUBLE_EQ(cluster.links[static_cast<std::size_t>(path[0])].bytes_per_second, 200e9);
}

} // namespace
} // namespace sextant::simulate
