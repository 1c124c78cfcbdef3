// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/campaign.hpp"

#include <functional>
#include <set>

#include <gtest/gtest.h>

namespace sextant::calibrate {
namespace {

using machine::Point;

std::vector<Point> sampled(const std::set<Bytes>& sizes,
                           const std::function<double(Bytes)>& seconds, double half = 0) {
    std::vector<Point> points;
    for (const Bytes bytes : sizes) {
        const double s = seconds(bytes);
        points.push_back({bytes, bytes, {s, s * (1 - half), s * (1 + half), 9}});
    }
    return points;
}

double jumps_at_5000(Bytes bytes) {
    return (bytes > 5000 ? 5e-6 : 1e-6) + 1e-10 * static_cast<double>(bytes);
}

TEST(SizeRefinement, adds_no_sizes_if_times_are_linear) {
    const auto line = [](Bytes bytes) { return 1e-6 + 1e-9 * static_cast<double>(bytes); };
    const auto points = sampled({1, 64, 4096, 65536, 1048576}, line);
    EXPECT_TRUE(sizes_wanted(points).empty());
    EXPECT_TRUE(switches_in(points).empty());
}

TEST(SizeRefinement, narrows_down_a_protocol_switch_from_both_sides) {
    std::set<Bytes> sizes = {1, 64, 1024, 16384, 262144};
    for (int round = 0; round < 20; ++round) {
        for (const Bytes bytes : sizes_wanted(sampled(sizes, jumps_at_5000)))
            sizes.insert(bytes);
    }
    const auto switches = switches_in(sampled(sizes, jumps_at_5000));
    ASSERT_EQ(switches.size(), 1u);
    EXPECT_LE(switches[0], 5000);
    EXPECT_GT(switches[0], 4750);
    EXPECT_TRUE(sizes.upper_bound(5000) != sizes.end() && *sizes.upper_bound(5000) < 5260);
    EXPECT_LE(sizes.size(), 40u);
    EXPECT_TRUE(sizes_wanted(sampled(sizes, jumps_at_5000)).empty())
        << "no more sizes are requested";
}

TEST(SizeRefinement, adds_no_sizes_for_differences_caused_by_noise) {
    const auto points = sampled({1, 1024, 16384, 262144}, jumps_at_5000, 2);
    EXPECT_TRUE(sizes_wanted(points).empty());
}

TEST(SizeRefinement, adds_only_multiples_of_the_block_length) {
    for (const Bytes bytes : sizes_wanted(sampled({256, 4096, 65536}, jumps_at_5000), 256))
        EXPECT_EQ(bytes % 256, 0);
}

} // namespace
} // namespace sextant::calibrate
