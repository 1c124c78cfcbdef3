// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/topology.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::machine {
namespace {

Topology of(Shape shape, std::vector<int> extents) {
    return {shape, std::move(extents)};
}

TEST(Topology, published_distances_and_bisections_equal_those_of_figure_1) {
    const auto expect = [](const Topology& topology, double h, double b) {
        const Wiring wiring = published_wiring(topology);
        EXPECT_NEAR(wiring.latency, h, 1e-9) << name(topology.shape);
        EXPECT_NEAR(wiring.bisection, b, 1e-9) << name(topology.shape);
    };
    expect(of(Shape::linear_array, {16}), 16 / 3.0, 1);
    expect(of(Shape::binary_tree, {256}), 8, 1);
    expect(of(Shape::mesh, {16, 16}), 2.0 / 3 * 16, 16);
    expect(of(Shape::mesh, {8, 8, 8}), 8, 64);
    expect(of(Shape::butterfly, {256}), 8, 32);
    expect(of(Shape::shuffle_exchange, {256}), 8, 32);
    expect(of(Shape::hypercube, {256}), 4, 128);
    expect(of(Shape::fat_tree, {256}), 16, 256);
    expect(of(Shape::complete_graph, {16}), 1, 64);
}

TEST(Topology, exact_distances_average_over_all_pairs_including_self_pairs) {
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::linear_array, {16})).latency, 5.3125);
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::mesh, {16, 16})).latency, 10.625);
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::hypercube, {256})).latency, 4);
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::complete_graph, {4})).latency, 0.75);
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::torus, {4, 4})).latency, 2);
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::torus, {5, 3})).latency, 24 / 20.0 + 8 / 12.0);
}

TEST(Topology, the_published_fat_tree_distance_is_about_twice_the_exact_one) {
    const Topology fat_tree = of(Shape::fat_tree, {256});
    EXPECT_NEAR(exact_wiring(fat_tree).latency, 7.34, .005);
    EXPECT_DOUBLE_EQ(published_wiring(fat_tree).latency, 16);
}

/// Mean distance in a binary tree, where node i is a child of node i / 2, by visiting all pairs.
double mean_by_walking(int p) {
    double sum = 0;
    for (int i = 1; i <= p; ++i) {
        for (int j = 1; j <= p; ++j) {
            for (int a = i, b = j; a != b; ++sum)
                (a > b ? a : b) /= 2;
        }
    }
    return sum / p / p;
}

TEST(Topology, trees_of_any_size_have_the_exact_mean_distance) {
    for (int p : {1, 2, 3, 7, 10, 31, 100})
        EXPECT_NEAR(exact_wiring(of(Shape::binary_tree, {p})).latency, mean_by_walking(p), 1e-12);
}

TEST(Topology, shuffle_exchange_distances_are_exact_means_over_all_processors) {
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::shuffle_exchange, {2})).latency, 0.5);
    // Shuffles connect 01 and 10; exchanges flip the last bit. So the graph is the line
    // 00 - 01 - 10 - 11.
    EXPECT_DOUBLE_EQ(exact_wiring(of(Shape::shuffle_exchange, {4})).latency, 1.25);
}

TEST(Topology, refuses_sizes_that_a_topology_does_not_support) {
    EXPECT_THROW(exact_wiring(of(Shape::hypercube, {6})), std::invalid_argument);
    EXPECT_THROW(exact_wiring(of(Shape::fat_tree, {8})), std::invalid_argument);
    EXPECT_THROW(exact_wiring(of(Shape::butterfly, {8})), std::invalid_argument);
}

TEST(Topology, the_longer_side_of_an_oblong_mesh_determines_distance_and_bisection) {
    const Wiring half = published_wiring(of(Shape::mesh, {8, 16}));
    EXPECT_NEAR(half.latency, 2.0 / 3 * 16, 1e-9);
    EXPECT_EQ(half.bisection, 8);
    const Wiring row = published_wiring(of(Shape::mesh, {16, 1}));
    EXPECT_NEAR(row.latency, 16 / 3.0, 1e-9);
    EXPECT_EQ(row.bisection, 1);
}

} // namespace
} // namespace sextant::machine
