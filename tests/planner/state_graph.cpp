// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/filter_path.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::planner {
namespace {

/// The cost of what a path says, if it is one.
Seconds cost_of(const StateGraph& graph, const CheapestPath& path, int from, int to) {
    Seconds sum = 0;
    std::size_t operations = 0;
    for (const Hop& hop : path.hops) {
        EXPECT_EQ(hop.stage, operations);
        const bool last = hop.stage == graph.each.size();
        const Stage* stage = last ? nullptr : &graph.kinds[graph.each[hop.stage]];
        const Edge& edge = last            ? graph.last[hop.edge]
                           : hop.operation ? stage->operations[hop.edge]
                                           : stage->conversions[hop.edge];
        EXPECT_EQ(edge.from, from);
        from = edge.to;
        sum += edge.seconds;
        operations += hop.operation;
    }
    EXPECT_EQ(from, to);
    EXPECT_EQ(operations, graph.each.size());
    return sum;
}

/// Every path with up to as many conversions at a time as there are states.
Seconds least_by_trying(const StateGraph& graph, int from, int to) {
    Seconds least = std::numeric_limits<Seconds>::infinity();
    std::function<void(std::size_t, int, Seconds, int)> go = [&](std::size_t stage, int at,
                                                                 Seconds sum, int conversions) {
        if (sum >= least)
            return;
        const bool last = stage == graph.each.size();
        if (last && at == to)
            least = sum;
        const auto& edges = last ? graph.last : graph.kinds[graph.each[stage]].conversions;
        for (const Edge& edge : edges) {
            if (edge.from == at && conversions < graph.states)
                go(stage, edge.to, sum + edge.seconds, conversions + 1);
        }
        if (last)
            return;
        for (const Edge& edge : graph.kinds[graph.each[stage]].operations) {
            if (edge.from == at)
                go(stage + 1, edge.to, sum + edge.seconds, 0);
        }
    };
    go(0, from, 0, 0);
    return least;
}

TEST(StateGraph, GivesThePathThatTryingEveryPathGives) {
    test::Random random(5);
    int reached = 0;
    for (int trial = 0; trial < 300; ++trial) {
        StateGraph graph;
        graph.states = 2 + static_cast<int>(random.index(3));
        const auto edges = [&] {
            std::vector<Edge> some;
            for (std::size_t i = random.index(6); i > 0; --i) {
                const auto state = [&] {
                    return static_cast<int>(random.index(static_cast<std::size_t>(graph.states)));
                };
                some.push_back({state(), state(), static_cast<Seconds>(random.index(9))});
            }
            return some;
        };
        graph.kinds = {{edges(), edges()}, {edges(), edges()}};
        for (std::size_t i = random.index(4); i > 0; --i)
            graph.each.push_back(random.index(2));
        graph.last = edges();
        const CheapestPath path = cheapest_path(graph, 0, 1);
        const Seconds least = least_by_trying(graph, 0, 1);
        ASSERT_EQ(path.seconds, least);
        if (std::isinf(least)) {
            EXPECT_TRUE(path.hops.empty());
            continue;
        }
        ++reached;
        EXPECT_EQ(cost_of(graph, path, 0, 1), least);
    }
    EXPECT_GT(reached, 30);
}

TEST(StateGraph, ChangesTheStateForAnOperationThatIsCheaperThere) {
    // From state 0 to 1 and back costs 3 each; operations cost 10 in state 0, 2 in state 1.
    const std::vector<Edge> moves = {{0, 1, 3}, {1, 0, 3}};
    StateGraph graph{2, {{moves, {{0, 0, 10}, {1, 1, 2}}}, {moves, {{0, 0, 1}}}}, {0, 0, 1}, moves};
    EXPECT_EQ(cheapest_path(graph, 0, 0).seconds, 3 + 2 + 2 + 3 + 1);
    graph.each = {1};
    EXPECT_EQ(cheapest_path(graph, 0, 0).seconds, 1);
    EXPECT_EQ(cheapest_path(graph, 0, 1).seconds, 1 + 3);
}

} // namespace
} // namespace sextant::planner
