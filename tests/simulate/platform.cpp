// SPDX-License-Identifier: BSD-3-Clause
// Platform files, orders and placements: errors and their messages.
#include "sextant/simulate/platform.hpp"

#include "sextant/core/error.hpp"

#include <filesystem>

#include "tests/format/temporary_folder.hpp"
#include "tests/simulate/cases.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::simulate {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

std::string platform_with(const std::string& network, const std::string& more = "") {
    return R"({"version": 1, "name": "small", "source": "a test", "network": )" + network +
           R"(, "links": {"bytes_per_second": 1e9, "latency": 1e-6})" + more + "}";
}

std::string refusal(const std::string& text) {
    return test::message_of<InvalidFile>([&] { parse_platform(text, "small.json"); });
}

void refuses(const std::string& text, const std::string& message) {
    EXPECT_THAT(refusal(text), HasSubstr(message)) << text;
}

void refuses_network(const std::string& network, const std::string& message) {
    refuses(platform_with(network), message);
}

TEST(Platform, every_shipped_platform_is_valid_and_names_its_source) {
    int count = 0;
    std::vector<std::filesystem::directory_entry> entries;
    for (const char* folder : {"", "../papers/platforms"}) {
        for (const auto& entry : std::filesystem::directory_iterator(test::shipped(folder)))
            entries.push_back(entry);
    }
    for (const auto& entry : entries) {
        if (entry.path().extension() != ".json")
            continue;
        const Platform platform = read_platform(entry.path());
        EXPECT_EQ(platform.name, entry.path().stem());
        EXPECT_GT(platform.source.size(), 20u) << platform.name;
        EXPECT_EQ(platform.loss.per_doubling > 0 && platform.fitted.empty(), false)
            << platform.name << " loses capacity without stating what this was fitted to";
        ++count;
    }
    EXPECT_GE(count, 12);
}

TEST(Platform, errors_name_the_field_and_the_expected_value) {
    EXPECT_EQ(refusal(platform_with(R"({"shape": "crossbar", "hosts": 3})")), "");
    refuses_network(R"({"shape": "star", "hosts": 3})",
                    "small.json: network.shape is \"star\", expected");
    refuses_network(R"({"shape": "crossbar", "hosts": 0})", "network.hosts is 0");
    refuses_network(R"({"shape": "torus", "extents": [4096, 4096]})",
                    "network.extents[1] is 4096, expected a whole number from 1 to 32");
    refuses_network(R"({"shape": "dragonfly", "groups": 3, "routers": [2], "hosts": 1,
                        "global": {"cables": 0}})",
                    "network.global.cables is 0, expected a whole number from 1 to 1024");
    refuses_network(R"({"shape": "dragonfly", "groups": 3, "routers": [2], "hosts": 1,
                        "local": {"bytes_per_second": 1, "latency": 0}, "routing": "ugal",
                        "global": {"cables": 1, "bytes_per_second": 1, "latency": 0}})",
                    "network.routing is \"ugal\", expected");
    refuses_network(R"({"shape": "fat tree", "down": [2, 2], "up": [1], "cables": [1, 1],
                        "routing": "d-mod-k"})",
                    "network.up is an array of 1, expected as many levels as `down`");
    refuses_network(R"({"shape": "fat tree", "down": [2, 2], "up": [1, 2], "cables": [1, 1],
                        "routing": "table", "spines": [[0, 1, 2, 0], [0, 0, 0, 0]]})",
                    "network.spines[0][2] is 2, expected a whole number from 0 to 1");
    refuses(platform_with(R"({"shape": "crossbar", "hosts": 3})", R"(, "node": {"cores": 2})"),
            "node.bytes_per_second is missing");
    const auto refuses_node = [](const std::string& node, const std::string& message) {
        refuses(platform_with(R"({"shape": "crossbar", "hosts": 6})",
                              R"(, "node": {"cores": 2, "bytes_per_second": 1, "latency": 0, )" +
                                  node + "}"),
                message);
    };
    refuses_node(R"("inside": "ring")", "node.inside is \"ring\", expected");
    refuses_node(R"("inside": "sockets", "sockets": 3)",
                 "node.sockets is 3, expected a whole number from 1 to 2");
    refuses_node(R"("ports": 4)", "node.ports is 4, expected a divisor of the network's 6 hosts");
    refuses_node(R"("ports": 2)", "node.port_choice is missing");
    refuses_node(R"("ports": 2, "port_choice": "modulo", "port_stride": 2)",
                 "node.port_stride is 2, expected a divisor of the number of nodes, 3");
    refuses("{}", "version is missing");
}

TEST(Platform, the_size_of_a_network_is_limited) {
    const auto tree = [](const std::string& down, const std::string& up, const std::string& cables,
                         const std::string& routing) {
        return platform_with(R"({"shape": "fat tree", "down": )" + down + R"(, "up": )" + up +
                             R"(, "cables": )" + cables + R"(, "routing": ")" + routing +
                             R"(", "seed": 1})");
    };
    std::string ones = "1";
    for (int i = 0; i < 32; ++i)
        ones += ", 1";
    const std::string long_list = "[" + ones + "]";
    refuses_network(R"({"shape": "torus", "extents": [8192]})", "network.extents[0] is 8192");
    refuses_network(R"({"shape": "mesh", "extents": )" + long_list + "}",
                    "network.extents is an array of 33, expected the number of hosts along "
                    "each dimension, at most 32 numbers");
    refuses(tree(long_list, long_list, long_list, "d-mod-k"), "network.down is an array of 33");
    refuses(tree("[1, 1]", "[131072, 1]", "[1024, 1024]", "d-mod-k"),
            "network has 268435456 links, expected at most 2097152");
    refuses_network(R"({"shape": "mesh", "extents": [1024, 128, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]})",
                    "network has 3407872 links");
    refuses(tree("[256, 512]", "[1, 256]", "[1, 1]", "min-hop"),
            "network.routing needs tables that are too large for this tree");
    refuses_network(R"({"shape": "dragonfly", "groups": 1000, "routers": [100], "hosts": 10})",
                    "network.hosts is 10, expected a whole number from 1 to 1");
    refuses_network(R"({"shape": "dragonfly", "groups": 100, "routers": [10], "hosts": 10,
                        "global": {"cables": 1024}})",
                    "network has 10166600 links");
    // Hosts have one port, so they need no tables.
    EXPECT_EQ(refusal(tree("[4096, 16]", "[1, 8]", "[1, 1]", "min-hop")), "");
}

TEST(Platform, cores_without_a_rank_take_no_memory) {
    const std::vector<HostSlots> rooms(1 << 17, {"n", 1 << 16});
    EXPECT_THAT(place(rooms, {}, 3, "large"), ElementsAre(0, 0, 0));
}

TEST(Platform, a_network_with_rings_has_no_wormholes) {
    const auto with_packet = [](const std::string& shape) {
        return R"({"version": 1, "name": "small", "source": "a test", "network": {"shape": ")" +
               shape + R"(", "extents": [4]}, "links": {"bytes_per_second": 1e9, "latency": 0,
            "wormhole_packet": 512}})";
    };
    EXPECT_EQ(parse_platform(with_packet("mesh"), "small.json").wormhole_packet, 512);
    refuses(with_packet("torus"), "links.wormhole_packet is 512, expected a network without rings");
}

TEST(HostOrder, lists_one_host_per_line_and_allows_comments) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("order.txt");
    const auto refused = [&](const std::string& text) -> std::string {
        test::fill_file(path, text);
        return test::message_of<InvalidFile>([&] { read_order(path); });
    };
    test::fill_file(path, "# first\n n1 \n\nn0 # last\n");
    const std::vector<OrderedHost> order = read_order(path);
    EXPECT_THAT(order,
                ElementsAre(Field(&OrderedHost::name, "n1"), Field(&OrderedHost::name, "n0")));
    EXPECT_EQ(order[0].named_by, path + ": line 2");
    EXPECT_THAT(refused("n0\nn1\nn0\n"),
                HasSubstr("order.txt: line 3 lists 'n0' again, expected each host once"));
    EXPECT_THAT(refused("n0 n1\n"), HasSubstr("line 1 has 'n1' after 'n0'"));
    EXPECT_THAT(refused("# nobody\n"), HasSubstr("lists no host"));
}

std::string refusal(std::span<const HostSlots> rooms, const std::vector<OrderedHost>& order,
                    int ranks) {
    return test::message_of<InvalidTask>([&] { place(rooms, order, ranks, "small"); });
}

TEST(RankPlacement, fills_the_hosts_one_after_another_in_the_given_order) {
    const std::vector<HostSlots> rooms{{"a", 2}, {"b", 1}, {"c", 2}};
    EXPECT_THAT(place(rooms, {}, 4, "small"), ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(place(rooms, std::vector<OrderedHost>{{"c"}, {"b"}}, 3, "small"),
                ElementsAre(2, 2, 1));
    EXPECT_THAT(refusal(rooms, {}, 6), HasSubstr("6 ranks, but small has 5 cores on 3 hosts"));
    EXPECT_THAT(refusal(rooms, {{"b"}}, 2),
                HasSubstr("1 cores on 1 hosts listed in the order file"));
    EXPECT_THAT(refusal(rooms, {{"b"}, {"d", "o.txt: line 2"}}, 2),
                HasSubstr("o.txt: line 2 names 'd', expected a host of small"));
    EXPECT_THAT(refusal(rooms, {{"b"}, {"b"}}, 2), HasSubstr("lists 'b' again"));
}

TEST(RankPlacement, sorts_hosts_by_number) {
    std::vector<HostSlots> rooms{{"n10"}, {"n9"}, {"n010"}, {"m11"}, {"n"}};
    sort_naturally(rooms);
    std::vector<std::string> names;
    for (const HostSlots& room : rooms)
        names.push_back(room.host);
    EXPECT_THAT(names, ElementsAre("m11", "n", "n9", "n010", "n10"));
}

} // namespace
} // namespace sextant::simulate
