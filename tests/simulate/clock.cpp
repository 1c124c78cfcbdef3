// SPDX-License-Identifier: BSD-3-Clause
// Sextant's own simulator: compared with calculations by hand and with SimGrid.
#include "sextant/core/error.hpp"
#include "sextant/simulate/simulation.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/format/temporary_folder.hpp"
#include "tests/simulate/cases.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::simulate {
namespace {

using testing::HasSubstr;

constexpr Elements million = 1'000'000; ///< 16 ms on a cable of 1 GB/s

Platform small_crossbar(const std::string& loss = "") {
    return parse_platform(R"({"version": 1, "name": "small", "source": "a test",
        "network": {"shape": "crossbar", "hosts": 5},
        "links": {"bytes_per_second": 1e9, "latency": 1e-6)" +
                              loss + "}}",
                          "small.json");
}

Simulation on_clock(const Schedule& schedule, const Costs& costs = {},
                    const Platform& platform = small_crossbar(),
                    std::vector<OrderedHost> order = {}) {
    return simulate_on_clock({.schedule = schedule,
                              .platform = "small.json",
                              .order = std::move(order),
                              .element_size = 16,
                              .costs = costs,
                              .association = Association::by_arrival},
                             platform);
}

TEST(ClockSimulation, charges_bytes_and_latency_and_shares_links) {
    EXPECT_NEAR(on_clock(test::star(2, million)).seconds, 16e-3 + 2e-6, 1e-12);
    EXPECT_NEAR(on_clock(test::star(4, million)).seconds, 3 * 16e-3 + 2e-6, 1e-9);
    const Platform losing = small_crossbar(R"(, "loss": {"flows": 2, "per_doubling": 0.5})");
    EXPECT_NEAR(on_clock(test::star(5, million), {}, losing).seconds, 1.5 * 64e-3 + 2e-6, 1e-9);
}

TEST(ClockSimulation, charges_overheads_sequentially) {
    const Costs costs{
        .send_overhead = 1e-3, .receive_overhead = 2e-3, .seconds_per_application = 1e-9};
    EXPECT_NEAR(on_clock(test::star(4, million), costs).seconds, 1e-3 + 48e-3 + 2e-6 + 2e-3 + 1e-3,
                1e-4);
}

TEST(ClockSimulation, interrupts_work_to_receive_messages) {
    const Costs costs{.receive_overhead = 2e-3, .seconds_per_application = 20e-9};
    EXPECT_NEAR(on_clock(test::interrupted(million), costs).finished[0], 22e-3, 1e-12);
}

TEST(ClockSimulation, moves_and_combines_only_the_active_fraction_of_each_round) {
    const Costs costs{.seconds_per_application = 10e-9}; // 10 ms per image
    const Schedule schedule = test::star(2, million);    // one message, in round 0
    const auto seconds = [&](std::vector<double> active) {
        return simulate_on_clock({.schedule = schedule,
                                  .platform = "small.json",
                                  .element_size = 16,
                                  .active_by_round = std::move(active),
                                  .costs = costs},
                                 small_crossbar())
            .seconds;
    };
    EXPECT_NEAR(seconds({}), 26e-3 + 2e-6, 1e-9);
    EXPECT_NEAR(seconds({.25, 1}), 6.5e-3 + 2e-6, 1e-9);
}

TEST(ClockSimulation, gives_the_same_bits_every_time) {
    const Platform platform = read_platform(test::shipped("fat-tree-144-calibrated.json"));
    const Schedule schedule = test::compositing_schedule("radix-k", 36, 100'003, {3, 12});
    EXPECT_EQ(on_clock(schedule, platform.costs, platform).finished,
              on_clock(schedule, platform.costs, platform).finished);
}

struct Configuration {
    std::string platform, algorithm;
    std::vector<int> radices = {};
};

/// Ratio of the times simulated by Sextant and by SimGrid, on 64 ranks.
double by_simgrid(const Configuration& configuration) {
    const std::string file = test::shipped(configuration.platform + ".json");
    const Platform platform = read_platform(file);
    const Schedule schedule =
        test::compositing_schedule(configuration.algorithm, 64, 1 << 20, configuration.radices);
    const Question question{
        .schedule = schedule, .platform = file, .element_size = 16, .costs = platform.costs};
    return simulate_on_clock(question).seconds / simulate(question).seconds;
}

TEST(ClockSimulation, agrees_with_simgrid) {
    if (!available())
        GTEST_SKIP() << "built without SimGrid";
    for (const Configuration& configuration :
         {Configuration{"fat-tree-144-calibrated", "direct-send"},
          Configuration{"torus-4x4x4", "radix-k", {16, 4}},
          Configuration{"mesh-8x8x4", "shift-based"},
          Configuration{"fat-tree-1728", "parallel-pipeline"},
          Configuration{"cluster-64x128", "binary-swap"}})
        EXPECT_NEAR(by_simgrid(configuration), 1, .02)
            << configuration.algorithm << " on " << configuration.platform;
}

TEST(ClockSimulation, agrees_with_simgrid_on_many_groups_that_share_no_links) {
    if (!available())
        GTEST_SKIP() << "built without SimGrid";
    const std::string file = test::shipped("torus-8x8x8.json");
    const Platform platform = read_platform(file);
    for (const std::vector<int>& radices : {std::vector{8, 8, 8}, {2, 2, 2, 2, 2, 2, 2, 2, 2}}) {
        const Schedule schedule = test::compositing_schedule("radix-k", 512, 1 << 20, radices);
        const Question question{.schedule = schedule,
                                .platform = file,
                                .element_size = 16,
                                .costs = platform.costs,
                                .association = Association::by_arrival};
        EXPECT_NEAR(simulate_on_clock(question).seconds / simulate(question).seconds, 1, .002)
            << radices.front();
    }
}

template <class Failure, class Function>
std::string refusal_of(const Function& function) {
    return test::message_of<Failure>([&] { function(); });
}

/// A row of five hosts; a message of a million elements takes 16 ms on a link.
Platform row_of_hosts(const std::string& links = "", const std::string& network = "") {
    return parse_platform(R"({"version": 1, "name": "row", "source": "a test",
        "network": {"shape": "mesh", "extents": [5])" +
                              network + R"(}, "links": {"bytes_per_second": 1e9, "latency": 0)" +
                              links + "}}",
                          "row.json");
}

/// A message of a million elements for each pair, started in this order by each sender.
Schedule messages(const std::vector<std::pair<int, int>>& pairs) {
    return make_schedule(5, [&](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(million);
        for (const auto& [from, to] : pairs) {
            if (from == rank)
                builder.send(to, own);
            if (to == rank)
                builder.receive(from, builder.scratch(million));
        }
        return builder.finish(own);
    });
}

TEST(ClockSimulation, a_wormhole_holds_the_links_behind_a_packet_that_waits) {
    // The message from host 4 to host 1 waits for the link from host 2, and keeps the message to
    // host 3 from the first link. If messages share links, all three take 32 ms.
    const Schedule schedule = messages({{2, 1}, {4, 1}, {4, 3}});
    EXPECT_NEAR(on_clock(schedule, {}, row_of_hosts()).seconds, 32e-3, 1e-3);
    const Platform wormholes = row_of_hosts(R"(, "wormhole_packet": 100000000)");
    const Simulation held = on_clock(schedule, {}, wormholes);
    EXPECT_NEAR(held.finished[2], 16e-3, 1e-9);
    EXPECT_NEAR(held.finished[1], 32e-3, 1e-9);
    EXPECT_NEAR(held.finished[3], 48e-3, 1e-9);
    EXPECT_EQ(held.finished, on_clock(schedule, {}, wormholes).finished);
}

TEST(ClockSimulation, packets_of_messages_that_meet_in_a_wormhole_network_alternate) {
    // 16 MB in packets of 1.6 MB: the two messages take turns on the link from host 2 to host 3.
    const Simulation turns =
        on_clock(messages({{2, 4}, {0, 3}}), {},
                 row_of_hosts(R"(, "wormhole_packet": 1600000)", R"(, "injection": 1e12)"));
    EXPECT_NEAR(turns.finished[3], 19 * 1.6e-3, 1e-9);
    EXPECT_NEAR(turns.finished[4], 20 * 1.6e-3, 1e-9);
    // The last packet may be shorter.
    EXPECT_NEAR(
        on_clock(messages({{0, 1}}), {}, row_of_hosts(R"(, "wormhole_packet": 3000000)")).seconds,
        16e-3, 1e-9);
}

TEST(ClockSimulation, ranks_that_wait_while_sending_hand_over_one_message_at_a_time) {
    const Schedule schedule = messages({{0, 1}, {0, 2}, {3, 0}});
    const Costs overlap{.send_overhead = 5e-3, .receive_overhead = 2e-3};
    Costs waits = overlap;
    waits.waits_while_sending = true;
    // Overlapping: the messages share the first link from 10 ms on, when the second is handed over.
    EXPECT_NEAR(on_clock(schedule, overlap, row_of_hosts()).finished[2], 39e-3, 1e-3);
    const Simulation one_by_one = on_clock(schedule, waits, row_of_hosts());
    EXPECT_NEAR(one_by_one.finished[1], 5e-3 + 16e-3 + 2e-3, 1e-9);
    EXPECT_NEAR(one_by_one.finished[2], 2 * (5e-3 + 16e-3) + 2e-3, 1e-9);
    // Rank 0 receives while its second message travels.
    EXPECT_NEAR(one_by_one.finished[0], 2 * (5e-3 + 16e-3), 1e-9);
}

TEST(ClockSimulation, packs_a_strided_message_while_another_one_travels) {
    const auto two_messages = [](Elements stride) {
        return make_schedule(5, [&](int rank) {
            ProgramBuilder builder;
            const Region all = builder.input(million * stride);
            const Region own{all.buffer, 0, 1, stride, million};
            for (const int to : {1, 2}) {
                if (rank == 0)
                    builder.send(to, own);
                if (rank == to)
                    builder.receive(0, builder.scratch(million));
            }
            return builder.finish(all);
        });
    };
    Costs costs{.pack_seconds_per_byte = 1e-9, .waits_while_sending = true}; // 16 ms per message
    EXPECT_NEAR(on_clock(two_messages(1), costs, row_of_hosts()).finished[2], 32e-3, 1e-9);
    EXPECT_NEAR(on_clock(two_messages(2), costs, row_of_hosts()).finished[2], 48e-3, 1e-9);
}

TEST(ClockSimulation, refuses_unsupported_schedules) {
    const Schedule pair = test::star(2, 10);
    EXPECT_THAT(refusal_of<InvalidFile>(
                    [&] { simulate_on_clock({.schedule = pair, .platform = "crossbar-12.xml"}); }),
                HasSubstr("crossbar-12.xml: is a SimGrid platform"));
    EXPECT_THAT(refusal_of<InvalidTask>([] { on_clock(test::star(6, 10)); }),
                HasSubstr("6 ranks, but small.json has 5 cores on 5 hosts"));
    EXPECT_THAT(refusal_of<InvalidTask>([&] {
                    on_clock(pair, {}, small_crossbar(), {{"n0"}, {"n0"}});
                }),
                HasSubstr("'n0' again"));
}

TEST(ClockSimulation, names_ranks_that_wait_forever) {
    const Schedule schedule = make_schedule(2, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.scratch(10), come = builder.scratch(10);
        builder.receive(1 - rank, come);
        builder.copy(own, come); // the send waits for the received message
        builder.send(1 - rank, own);
        return builder.finish(own);
    });
    EXPECT_THAT(refusal_of<std::logic_error>([&] { on_clock(schedule); }),
                HasSubstr("2 of 2 ranks wait forever"));
}

/// The time of an all-to-all in which each of 8 ranks sends 1/8 of its image, 2 MB, to each other
/// rank: 14 MB leave and enter each rank.
Seconds all_to_all(const std::string& node, int hosts) {
    const Platform platform = parse_platform(
        R"({"version": 1, "name": "small", "source": "a test", "network": {"shape": "crossbar",
            "hosts": )" +
            std::to_string(hosts) +
            R"(}, "links": {"bytes_per_second": 1e9, "latency": 1e-6}, "node":
            {"bytes_per_second": 1e9, "latency": 1e-6, )" +
            node + "}}",
        "small.json");
    return on_clock(test::compositing_schedule("direct-send", 8, million), {}, platform).seconds;
}

TEST(ClockSimulation, charges_the_ports_and_links_inside_nodes) {
    EXPECT_NEAR(all_to_all(R"("cores": 8)", 1), 56 * 2e-3, 1e-3);
    EXPECT_NEAR(all_to_all(R"("cores": 8, "inside": "crossbar")", 1), 7 * 2e-3, 1e-4);
    const std::string socket =
        R"(, "inside": "sockets", "between_sockets": {"bytes_per_second": 1e8, "latency": 0})";
    EXPECT_NEAR(all_to_all(R"("cores": 8, "sockets": 8)" + socket, 1), 2e-2, 1e-4);
    EXPECT_NEAR(all_to_all(R"("cores": 8, "sockets": 2)" + socket, 1), 16 * 2e-2, 1e-3);
}

/// Two nodes of four ranks: 16 messages of 2 MB go each way.
TEST(ClockSimulation, charges_the_ports_of_nodes) {
    const std::string node = R"("cores": 4, "inside": "crossbar")";
    EXPECT_NEAR(all_to_all(node, 2), 16 * 2e-3, 1e-4);
    for (const char* choice : {"modulo", "nearest", "striped"}) {
        const std::string more = std::string(R"(, "port_choice": ")") + choice + R"(", "ports": )";
        EXPECT_NEAR(all_to_all(node + more + "2", 4), 8 * 2e-3, 2e-4) << choice;
    }
}

/// SimGrid's own dragonfly: router j of a group leads to group j. In the order of its hosts here,
/// the routers that lead to other groups are those of the shape "dragonfly".
TEST(ClockSimulation, agrees_with_the_dragonfly_of_simgrid) {
    if (!available())
        GTEST_SKIP() << "built without SimGrid";
    constexpr int groups = 4, routers = 6, hosts = 2;
    const test::TemporaryFolder folder;
    const std::string xml = folder.path("dragonfly.xml");
    test::fill_file(xml, R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="d" prefix="n" suffix="" radical="0-47" speed="1Gf" bw="5GBps"
    lat="100ns" topology="DRAGONFLY" topo_parameters="4,1;1,1;6,1;2"
    sharing_policy="SPLITDUPLEX"/></platform>)");
    const std::string link = R"({"bytes_per_second": 5e9, "latency": 1e-7)";
    const Platform platform = parse_platform(
        R"({"version": 1, "name": "small", "source": "a test", "network": {"shape": "dragonfly",
            "groups": 4, "routers": [6], "hosts": 2, "routing": "minimal", "local": )" +
            link + R"(}, "global": )" + link + R"(, "cables": 1}}, "links": )" + link + "}}",
        "small.json");
    std::vector<OrderedHost> order;
    for (int group = 0; group < groups; ++group) {
        // The three global ports of a group are at its routers 0, 2 and 4.
        std::vector<int> leading, others{group, 4, 5};
        for (int other = 0; other < groups; ++other) {
            if (other != group)
                leading.push_back(other);
        }
        for (int router = 0; router < routers; ++router) {
            const auto half = static_cast<std::size_t>(router / 2);
            const int theirs = router % 2 == 0 ? leading[half] : others[half];
            for (int host = 0; host < hosts; ++host)
                order.push_back({"n" + std::to_string((group * routers + theirs) * hosts + host)});
        }
    }
    for (const char* algorithm : {"direct-send", "shift-based"}) {
        const Schedule schedule = test::compositing_schedule(algorithm, 31, 1 << 18);
        const Seconds there = simulate({.schedule = schedule,
                                        .platform = xml,
                                        .order = order,
                                        .element_size = 16,
                                        .association = Association::by_arrival})
                                  .seconds;
        EXPECT_NEAR(on_clock(schedule, {}, platform).seconds / there, 1, .005) << algorithm;
    }
}

} // namespace
} // namespace sextant::simulate
