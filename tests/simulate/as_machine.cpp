// SPDX-License-Identifier: BSD-3-Clause
// The machine profile of a platform, compared with numbers derived from its description.
#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/p3pc_extended.hpp"
#include "sextant/simulate/platform.hpp"

#include "tests/simulate/cases.hpp"
#include <gmock/gmock.h>

namespace sextant::simulate {
namespace {

using machine::Layout;
using machine::Link;
using machine::Path;
using machine::Strategy;

Platform platform(const std::string& network, const std::string& more = "") {
    return parse_platform(R"({"version": 1, "name": "small", "source": "a test", "network": )" +
                              network +
                              R"(, "links": {"bytes_per_second": 1e9, "latency": 1e-6,
                                             "loss": {"flows": 2, "per_doubling": 0.5}})" +
                              more + "}",
                          "small.json");
}

Seconds seconds(const machine::Profile& profile, Link link, Path path, Bytes bytes) {
    const machine::LinkCosts* costs = profile.find(link);
    const machine::Curve* curve = machine::find(*costs, path, Layout::cc, Strategy::contiguous);
    return machine::at_size(curve->points, bytes).median;
}

TEST(ProfileOfPlatform, has_the_costs_of_a_path_over_two_crossbar_links) {
    const machine::Profile profile =
        profile_of(platform(R"({"shape": "crossbar", "hosts": 4})",
                            R"(, "costs": {"send_overhead": 2e-6, "receive_overhead": 3e-6,
                       "seconds_per_application": 4e-9, "copy_seconds_per_byte": 5e-10})"));
    const Network crossbar = platform(R"({"shape": "crossbar", "hosts": 4})").network;
    const double links = static_cast<double>(path_of(crossbar, 0, 1).size());
    EXPECT_DOUBLE_EQ(seconds(profile, Link::other_node, Path::full, 0), links * 1e-6 + 5e-6);
    EXPECT_NEAR(seconds(profile, Link::other_node, Path::full, 1'000'000), links * 1e-6 + 1.005e-3,
                1e-12);
    EXPECT_NEAR(seconds(profile, Link::other_node, Path::send, 1'000'000), 1.002e-3, 1e-12);
    EXPECT_NEAR(seconds(profile, Link::other_node, Path::receive, 1'000'000), 1.003e-3, 1e-12);
    EXPECT_EQ(profile.find(Link::same_node), nullptr);
    EXPECT_DOUBLE_EQ(profile.find_operator("over", "f32")->seconds_per_element->median, 4e-9);
    EXPECT_DOUBLE_EQ(profile.copies.front().seconds_per_byte.median, 5e-10);
}

TEST(ProfileOfPlatform, allows_a_torus_host_to_send_on_all_its_links_at_once) {
    const machine::Profile profile =
        profile_of(platform(R"({"shape": "torus", "extents": [4, 4]})"));
    EXPECT_NEAR(seconds(profile, Link::other_node, Path::send, 4'000'000), 1e-3, 1e-12);
    // The mean distance to the 15 other hosts is 2 * 16 / 15 links of 1 us each.
    EXPECT_NEAR(seconds(profile, Link::other_node, Path::full, 0), 32.0 / 15 * 1e-6, 1e-15);
}

TEST(ProfileOfPlatform, distinguishes_ranks_on_the_same_host_from_ranks_on_different_hosts) {
    const machine::Profile profile = profile_of(
        platform(R"({"shape": "crossbar", "hosts": 2})",
                 R"(, "node": {"cores": 4, "bytes_per_second": 1e10, "latency": 1e-7})"));
    EXPECT_EQ(profile.cores, 4);
    EXPECT_NEAR(seconds(profile, Link::same_node, Path::full, 1'000'000), 1.001e-4, 1e-12);
}

TEST(ProfileOfPlatform, can_be_written_and_read_back_for_every_shipped_platform) {
    for (const char* name : {"fat-tree-144-calibrated", "fat-tree-1728", "torus-8x8x8",
                             "mesh-8x8x4", "cluster-64x128", "delta-16x16"}) {
        machine::Profile profile =
            profile_of(read_platform(test::shipped(std::string(name) + ".json")));
        profile.origin.date = "2026";
        EXPECT_EQ(machine::parse_profile(machine::profile_text(profile), name).name, name);
    }
}

TEST(PlatformLinks, follow_the_routes_of_the_platform_and_lose_capacity_when_shared) {
    const Platform small = platform(R"({"shape": "crossbar", "hosts": 4})");
    const machine::Wires wires = wires_of(small);
    EXPECT_EQ(wires.links, static_cast<int>(small.network.links.size()));
    std::vector<int> path;
    wires.route(1, 3, path);
    EXPECT_EQ(path, path_of(small.network, 1, 3));
    EXPECT_DOUBLE_EQ(wires.busy(path[0], 1e9, 2), 1);
    // Two flows lose no capacity. Eight flows are two doublings more, each of which loses capacity.
    EXPECT_DOUBLE_EQ(wires.busy(path[0], 1e9, 8), 2);
    EXPECT_DOUBLE_EQ(wires.latency(path[0]), 1e-6);
}

/// Ratio of predicted to simulated time; the prediction considers the links of the platform.
double prediction_by_simulation(const std::string& name, const std::string& algorithm,
                                const std::vector<int>& radices) {
    const std::string file = test::shipped(name + ".json");
    const Platform platform = read_platform(file);
    const machine::Profile profile = profile_of(platform);
    const machine::Wires wires = wires_of(platform);
    const Schedule schedule = test::compositing_schedule(algorithm, 16, 1 << 20, radices);
    model::Question question{.schedule = schedule, .machine = profile};
    question.element_size = 16;
    question.operator_name = "over";
    question.element_name = "f32";
    question.wires = &wires;
    return model::p3pc_extended(question).seconds / simulate({.schedule = schedule,
                                                              .platform = file,
                                                              .element_size = 16,
                                                              .costs = platform.costs})
                                                        .seconds;
}

TEST(PlatformLinks, make_predictions_with_a_window_agree_with_the_simulation) {
    if (!available())
        GTEST_SKIP() << "built without SimGrid";
    // With a window, a round starts after the previous one on all ranks, so every error
    // accumulates.
    for (const char* name : {"mesh-8x8x4", "torus-8x8x8", "fat-tree-1728"})
        EXPECT_NEAR(prediction_by_simulation(name, "shift-based", {}), 1, .05) << name;
}

TEST(PlatformLinks, make_predictions_without_a_window_agree_with_the_simulation) {
    if (!available())
        GTEST_SKIP() << "built without SimGrid";
    // Without a window, messages to near ranks end before those to distant ranks, and ranks get out
    // of step.
    EXPECT_NEAR(prediction_by_simulation("mesh-8x8x4", "radix-k", {4, 4}), 1, .01);
    EXPECT_NEAR(prediction_by_simulation("mesh-8x8x4", "direct-send", {}), 1, .02);
    EXPECT_NEAR(prediction_by_simulation("torus-8x8x8", "radix-k", {2, 8}), 1, .02);
    EXPECT_NEAR(prediction_by_simulation("fat-tree-1728", "direct-send", {}), 1, .02);
    EXPECT_NEAR(prediction_by_simulation("fat-tree-144-calibrated", "direct-send", {}), 1, .02);
}

} // namespace
} // namespace sextant::simulate
