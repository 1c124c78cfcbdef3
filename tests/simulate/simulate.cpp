// SPDX-License-Identifier: BSD-3-Clause
// Simulated times, compared with calculations by hand, and error messages.
#include "sextant/core/error.hpp"
#include "sextant/simulate/simulation.hpp"

#include "tests/format/temporary_folder.hpp"
#include "tests/simulate/cases.hpp"
#include "tests/support/line_sums.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/random.hpp"
#include <gmock/gmock.h>

namespace sextant::simulate {
namespace {

using testing::HasSubstr;

/// Four hosts on a crossbar of 1 GB/s and 1 us per cable.
class Simulate : public testing::Test {
  protected:
    void SetUp() override {
        if (!available())
            GTEST_SKIP() << "built without SimGrid";
        write("crossbar.json", R"({"version": 1, "name": "small", "source": "a test",
            "network": {"shape": "crossbar", "hosts": 4},
            "links": {"bytes_per_second": 1e9, "latency": 1e-6}})");
    }
    void write(const std::string& name, const std::string& text) {
        platform = folder.path(name);
        test::fill_file(platform, text);
    }
    Simulation simulated(const Schedule& schedule, const Costs& costs = {},
                         Association association = Association::in_order,
                         std::vector<OrderedHost> order = {}) {
        return simulate({.schedule = schedule,
                         .platform = platform,
                         .order = std::move(order),
                         .element_size = 16,
                         .costs = costs,
                         .association = association,
                         .timeline = true});
    }
    template <class Failure>
    std::string refusal(const Schedule& schedule, std::vector<OrderedHost> order = {}) {
        return test::message_of<Failure>(
            [&] { simulated(schedule, {}, Association::in_order, std::move(order)); });
    }

    test::TemporaryFolder folder;
    std::string platform;
};

constexpr Elements million = 1'000'000; ///< 16 ms on a cable

TEST_F(Simulate, ranks_may_wait_while_sending) {
    const Costs waits{.send_overhead = 5e-3, .waits_while_sending = true};
    EXPECT_NEAR(simulated(test::star(3, million), waits).seconds, 2 * (5e-3 + 16e-3 + 2e-6), 1e-9);
}

TEST_F(Simulate, wormholes_are_refused) {
    write("wormholes.json", R"({"version": 1, "name": "small", "source": "a test",
        "network": {"shape": "crossbar", "hosts": 4},
        "links": {"bytes_per_second": 1e9, "latency": 1e-6, "wormhole_packet": 512}})");
    EXPECT_THAT(refusal<InvalidFile>(test::star(2, 10)),
                HasSubstr("wormholes.json: has wormhole switching"));
}

TEST_F(Simulate, a_message_takes_the_time_of_its_bytes_and_the_latency_of_its_links) {
    EXPECT_NEAR(simulated(test::star(2, million)).seconds, 16e-3 + 2e-6, 1e-12);
}

TEST_F(Simulate, sparse_elements_are_sent_as_fewer_bytes) {
    const Schedule schedule = test::star(2, million);
    const Simulation run =
        simulate({.schedule = schedule, .platform = platform, .element_size = 16, .density = .25});
    EXPECT_NEAR(run.seconds, 4e-3 + 2e-6, 1e-12);
}

TEST_F(Simulate, computing_takes_a_fixed_time_per_element) {
    const Schedule alone = test::line_sums_case(1).schedule;
    EXPECT_DOUBLE_EQ(simulated(alone, {.seconds_per_computed_element = {2}}).seconds,
                     2.0 * test::each);
    EXPECT_DOUBLE_EQ(simulated(alone).seconds, 0);
}

TEST_F(Simulate, messages_on_the_same_link_share_its_bandwidth) {
    EXPECT_NEAR(simulated(test::star(4, million)).seconds, 3 * 16e-3 + 2e-6, 1e-12);
}

TEST_F(Simulate, overheads_add_up_and_blending_starts_when_all_operands_have_arrived) {
    // The cable of rank 0 is busy from the end of the first send overhead until all three messages
    // are transferred; the last one to arrive is then received and blended.
    const Costs costs{
        .send_overhead = 1e-3, .receive_overhead = 2e-3, .seconds_per_application = 1e-9};
    const Simulation run = simulated(test::star(4, million), costs);
    EXPECT_NEAR(run.seconds, 1e-3 + 48e-3 + 2e-6 + 2e-3 + 1e-3, 1e-6);
    const Costs by_byte{.send_seconds_per_byte = 1e-9, .receive_seconds_per_byte = 5e-10};
    EXPECT_NEAR(simulated(test::star(2, million), by_byte).seconds, 40e-3 + 2e-6, 1e-12);
}

/// The rank folds for 20 ms and is interrupted after 1.6 ms to receive a message, which takes 2 ms.
TEST_F(Simulate, a_message_interrupts_its_rank_even_if_the_node_has_idle_cores) {
    write("node.json", R"({"version": 1, "name": "small", "source": "a test",
        "network": {"shape": "crossbar", "hosts": 2},
        "links": {"bytes_per_second": 1e9, "latency": 1e-6},
        "node": {"cores": 4, "bytes_per_second": 1e10, "latency": 1e-7}})");
    const Costs costs{.receive_overhead = 2e-3, .seconds_per_application = 20e-9};
    EXPECT_NEAR(simulated(test::interrupted(million), costs).finished[0], 22e-3, 1e-12);
}

TEST_F(Simulate, a_link_loses_capacity_when_flows_share_it) {
    write("loss.json", R"({"version": 1, "name": "small", "source": "a test",
        "network": {"shape": "crossbar", "hosts": 5}, "links": {"bytes_per_second": 1e9,
        "latency": 1e-6, "loss": {"flows": 2, "per_doubling": 0.5}}})");
    // Two flows share a link without loss; if four share it, 1 / (1 + .5) of its capacity remains.
    EXPECT_NEAR(simulated(test::star(3, million)).seconds, 32e-3 + 2e-6, 1e-9);
    EXPECT_NEAR(simulated(test::star(5, million)).seconds, 1.5 * 64e-3 + 2e-6, 1e-9);
}

/// Operands arrive last to first: if they must be combined in order, nothing can be combined before
/// the end.
TEST_F(Simulate, folds_use_the_requested_association) {
    const Schedule schedule = make_schedule(4, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(million);
        builder.window(1);
        if (rank > 0) {
            builder.round(4 - rank);
            builder.send(0, own);
            return builder.finish({});
        }
        std::vector<Region> operands{own};
        const Region come = builder.scratch(3 * million), sum = builder.output(million);
        for (int i = 0; i < 3; ++i)
            operands.push_back(part(come, i, 3));
        for (int peer = 3; peer > 0; --peer) {
            builder.round(4 - peer);
            builder.receive(peer, operands[static_cast<std::size_t>(peer)]);
        }
        builder.fold(sum, operands);
        return builder.finish(sum);
    });
    const Costs costs{.seconds_per_application = 10e-9}; // 10 ms per application
    const Seconds messages = 3 * (16e-3 + 2e-6);
    EXPECT_NEAR(simulated(schedule, costs).seconds, messages + 30e-3, 1e-9);
    const Simulation arrival = simulated(schedule, costs, Association::by_arrival);
    EXPECT_NEAR(arrival.seconds, messages + 20e-3, 1e-9);
}

TEST_F(Simulate, traces_have_the_same_form_as_those_of_the_executor) {
    const Simulation run = simulated(test::star(2, million), {.seconds_per_application = 1e-9});
    int sends = 0, receives = 0, folds = 0;
    for (const Event& event : run.timeline.events) {
        EXPECT_LE(event.begin, event.end);
        EXPECT_LE(event.end, run.seconds);
        sends += event.activity == Activity::send && event.rank == 0 && event.peer == 1;
        receives += event.activity == Activity::receive && event.elements == million;
        folds += event.activity == Activity::fold && event.rank == 1;
    }
    EXPECT_EQ(std::tuple(sends, receives, folds), std::tuple(1, 1, 1));
    EXPECT_DOUBLE_EQ(run.timeline.duration, run.seconds);
}

TEST_F(Simulate, gives_the_same_bits_every_time) {
    platform = test::shipped("fat-tree-144-calibrated.json");
    const Schedule schedule = test::compositing_schedule("radix-k", 36, 100'003, {3, 12});
    const Costs costs{.send_overhead = 1e-6, .seconds_per_application = 7e-9};
    const Simulation once = simulated(schedule, costs, Association::by_arrival);
    const Simulation again = simulated(schedule, costs, Association::by_arrival);
    EXPECT_EQ(once.finished, again.finished);
    ASSERT_EQ(once.timeline.events.size(), again.timeline.events.size());
    for (std::size_t i = 0; i < once.timeline.events.size(); ++i) {
        const Event &a = once.timeline.events[i], &b = again.timeline.events[i];
        EXPECT_EQ(std::tuple(a.rank, a.step, a.begin, a.end),
                  std::tuple(b.rank, b.step, b.begin, b.end));
    }
}

TEST_F(Simulate, simgrids_and_sextants_fat_trees_agree) {
    const Schedule schedule = test::compositing_schedule("direct-send", 48, 1'000'003);
    write("tree.xml", R"(<?xml version='1.0'?>
        <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
        <platform version="4.1">
          <cluster id="tree" prefix="n" suffix="" radical="0-143" speed="1Gf" bw="1915748352Bps"
                   lat="250ns" topology="FAT_TREE" topo_parameters="2;12,12;1,12;1,1"
                   sharing_policy="SPLITDUPLEX"/>
        </platform>)");
    const Seconds theirs = simulated(schedule).seconds;
    platform = test::shipped("fat-tree-144.json");
    EXPECT_NEAR(simulated(schedule).seconds, theirs, 1e-3 * theirs);
}

TEST_F(Simulate, one_rank_without_messages_takes_the_time_of_its_work) {
    const Schedule alone = test::compositing_schedule("direct-send", 1, 1000);
    EXPECT_EQ(simulated(alone).seconds, 0);
}

TEST_F(Simulate, ranks_that_wait_forever_are_named_with_their_steps) {
    const Schedule schedule = make_schedule(3, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.in_out(8), come = builder.scratch(8);
        const int other = 1 - rank;
        if (rank == 2)
            return builder.finish(own);
        builder.receive(other, come);
        builder.copy(own, come); // the send waits for the received message, on both ranks
        builder.send(other, own);
        return builder.finish(own);
    });
    const std::string what = refusal<std::logic_error>(schedule);
    EXPECT_THAT(what, HasSubstr("2 of 3 ranks wait forever"));
    EXPECT_THAT(what, HasSubstr("rank 0, step 0 (receive"));
    EXPECT_THAT(what, HasSubstr("rank 1, step 0 (receive"));
}

TEST_F(Simulate, too_few_hosts_and_invalid_orders_are_refused) {
    EXPECT_THAT(refusal<InvalidTask>(test::star(5, 10)),
                HasSubstr("5 ranks, but " + platform + " has 4 cores on 4 hosts"));
    EXPECT_THAT(refusal<InvalidTask>(test::star(2, 10), {{"n0"}, {"x"}}),
                HasSubstr("the order names 'x', expected a host of"));
    EXPECT_THAT(refusal<InvalidTask>(test::star(2, 10), {{"n0"}, {"n0"}}), HasSubstr("'n0' again"));
}

TEST_F(Simulate, unreadable_platforms_are_named_in_the_error) {
    platform = folder.path("none.xml");
    EXPECT_THAT(refusal<InvalidFile>(test::star(2, 10)), HasSubstr("none.xml"));
    write("broken.xml", "<?xml version='1.0'?>\n<platform version=\"4.1\"><cluster id=");
    EXPECT_THAT(refusal<Error>(test::star(2, 10)), HasSubstr("broken.xml"));
}

/// A platform in SimGrid's XML.
std::string xml(const std::string& content) {
    return R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">)" +
           content + "</platform>";
}

TEST_F(Simulate, a_platform_without_a_route_for_a_message_is_refused) {
    const std::string route = R"(<route src="n0" dst="n1"><link_ctn id="l"/></route>)";
    for (const std::string routing :
         {"Full", "Floyd", "Dijkstra", "DijkstraCache", "None", "Vivaldi"}) {
        const std::string zone = "<zone id='all' routing='" + routing + R"('>
            <host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/>
            <link id="l" bandwidth="1GBps" latency="1us"/>)";
        write("apart.xml", xml(zone + "</zone>"));
        EXPECT_THAT(refusal<InvalidFile>(test::star(3, 10)), HasSubstr("route from n0 to n1"))
            << routing;
        if (routing == "None" || routing == "Vivaldi")
            continue;
        write("apart.xml", xml(zone + route + "</zone>"));
        EXPECT_THAT(refusal<InvalidFile>(test::star(3, 10)),
                    HasSubstr(routing.starts_with("Dijkstra") ? "route from n0 to n1"
                                                              : "route from n0 to n2"))
            << routing;
    }
}

/// A cycle of zones: one contains itself, has a route to itself, or to the zone that it is in.
TEST_F(Simulate, a_platform_whose_zones_form_a_cycle_is_refused) {
    const std::string hosts = R"(<host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/>)";
    const auto zone = [](const std::string& name, const std::string& content) {
        return "<zone id='" + name + "' routing='Full'>" + content + "</zone>";
    };
    const auto route = [](const std::string& from, const std::string& to) {
        return "<link id='l' bandwidth='1GBps' latency='1us'/><zoneRoute src='" + from + "' dst='" +
               to + "' gw_src='n0' gw_dst='n1'><link_ctn id='l'/></zoneRoute>";
    };
    for (const auto& [platform, reason] :
         {std::pair(zone("a", zone("a", hosts)), "create a second NetZone called 'a'"),
          std::pair(zone("w", zone("a", hosts) + route("a", "a")), "route from n0 to n1"),
          std::pair(zone("w", zone("a", hosts) + route("w", "a")), "SimGrid crashes while it")}) {
        write("cycle.xml", xml(platform));
        EXPECT_THAT(refusal<InvalidFile>(test::star(2, 10)), HasSubstr(reason));
        EXPECT_THAT(refusal<InvalidFile>(test::star(2, 10)), HasSubstr("cycle.xml: "));
    }
}

/// Hosts of a cluster in SimGrid's XML; `more`: further elements.
std::string cluster(const std::string& more = "", const std::string& hosts = "0-3") {
    return xml(more + "<cluster id='c' prefix='n' suffix='' radical='" + hosts +
               "' speed='1Gf' bw='1GBps' lat='1us' sharing_policy='SPLITDUPLEX'/>");
}

TEST_F(Simulate, a_platform_of_simgrid_with_too_many_hosts_is_refused) {
    for (const auto& [hosts, count] :
         {std::pair("0-999999", 1000000), std::pair("0-65535, 70000-139999,200000", 135537)}) {
        write("many.xml", cluster("\n", hosts));
        EXPECT_THAT(
            refusal<InvalidFile>(test::star(2, 10)),
            HasSubstr(fmt::format("many.xml: line 4 has host {}, expected at most 131072", count)));
    }
}

TEST_F(Simulate, a_platform_cannot_change_settings_of_simgrid) {
    const std::string trace = folder.path("trace");
    write("plain.xml", cluster());
    EXPECT_GT(simulated(test::star(2, 10)).seconds, 0);
    write("tracing.xml", cluster(R"(<config><prop id="tracing" value="yes"/>
        <prop id="tracing/platform" value="yes"/><prop id="tracing/filename" value=")" +
                                 trace + R"("/></config>)"));
    EXPECT_THAT(refusal<InvalidFile>(test::star(2, 10)),
                HasSubstr("tracing.xml: line 3 has an element <config>"));
    EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST_F(Simulate, a_damaged_platform_of_simgrid_is_read_or_refused) {
    const std::string whole = cluster();
    test::Random random(3);
    int refused = 0;
    for (int i = 0; i < 60; ++i) {
        std::string damaged = whole;
        if (i % 3 == 0)
            damaged.resize(random.index(whole.size()));
        else
            damaged[random.index(whole.size())] = static_cast<char>(random.number(1, 127));
        write("damaged.xml", damaged);
        refused += refusal<Error>(test::star(2, 10)).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 30);
}

} // namespace
} // namespace sextant::simulate
