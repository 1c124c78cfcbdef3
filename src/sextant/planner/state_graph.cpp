// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/state_graph.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace sextant::planner {

namespace {

/// How each state is reached at least cost within one step of the chain.
struct Reached {
    std::vector<Seconds> seconds;
    std::vector<std::optional<std::size_t>> by; ///< the edge; none where one was there already

    explicit Reached(int states)
        : seconds(static_cast<std::size_t>(states), std::numeric_limits<Seconds>::infinity()),
          by(static_cast<std::size_t>(states)) {}

    Seconds& at(int state) { return seconds[static_cast<std::size_t>(state)]; }
    Seconds at(int state) const { return seconds[static_cast<std::size_t>(state)]; }
    std::optional<std::size_t>& edge(int state) { return by[static_cast<std::size_t>(state)]; }
};

Reached convert(const Reached& before, std::span<const Edge> edges) {
    Reached after(static_cast<int>(before.seconds.size()));
    after.seconds = before.seconds;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const Seconds there = after.at(edges[i].from) + edges[i].seconds;
            if (there < after.at(edges[i].to)) {
                after.at(edges[i].to) = there;
                after.edge(edges[i].to) = i;
                changed = true;
            }
        }
    }
    return after;
}

Reached operate(const Reached& before, std::span<const Edge> edges) {
    Reached after(static_cast<int>(before.seconds.size()));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const Seconds there = before.at(edges[i].from) + edges[i].seconds;
        if (there < after.at(edges[i].to)) {
            after.at(edges[i].to) = there;
            after.edge(edges[i].to) = i;
        }
    }
    return after;
}

} // namespace

CheapestPath cheapest_path(const StateGraph& graph, int from, int to) {
    std::vector<Reached> steps; // conversions and operations in turn, conversions last
    Reached start(graph.states);
    start.at(from) = 0;
    for (const std::size_t kind : graph.each) {
        steps.push_back(
            convert(steps.empty() ? start : steps.back(), graph.kinds[kind].conversions));
        steps.push_back(operate(steps.back(), graph.kinds[kind].operations));
    }
    steps.push_back(convert(steps.empty() ? start : steps.back(), graph.last));
    CheapestPath path{{}, steps.back().at(to)};
    if (path.seconds == std::numeric_limits<Seconds>::infinity())
        return path;
    int state = to;
    for (std::size_t step = steps.size(); step-- > 0;) {
        const std::size_t stage = step / 2;
        const bool operation = step % 2 == 1;
        const std::vector<Edge>& edges = stage == graph.each.size() ? graph.last
                                         : operation ? graph.kinds[graph.each[stage]].operations
                                                     : graph.kinds[graph.each[stage]].conversions;
        while (const auto edge = steps[step].edge(state)) {
            path.hops.push_back({stage, operation, *edge});
            state = edges[*edge].from;
            if (operation)
                break; // one operation a stage
        }
    }
    std::reverse(path.hops.begin(), path.hops.end());
    return path;
}

} // namespace sextant::planner
