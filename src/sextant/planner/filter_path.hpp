// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/planner/filter_choice.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::planner {

/// A way from one state of the data to another.
struct Edge {
    int from = 0, to = 0;
    Seconds seconds = 0;
};

/// What may happen before an operation, as often as one likes, and how it may be done: states
/// before and after it.
struct Stage {
    std::vector<Edge> conversions, operations;
};

/// An edge of a path.
struct Hop {
    std::size_t stage = 0; ///< the number of stages for what follows the last operation
    bool operation = false;
    std::size_t edge = 0; ///< among the stage's conversions or operations
};

/// The application state transition graph of Seinstra and Koelma: data in some state goes through
/// operations one after another, and may be brought into another state before each of them and at
/// the end.
struct StateGraph {
    int states = 0;
    std::vector<Stage> kinds;      ///< stages that differ
    std::vector<std::size_t> each; ///< the kind of each stage, in order
    std::vector<Edge> last;        ///< conversions after the last operation
};

struct CheapestPath {
    std::vector<Hop> hops;
    Seconds seconds = 0;
};

/// The cheapest path from one state to another; without hops, at infinite cost, where there is
/// none.
///
/// Cost      stages × conversions × the conversions of a path within one stage.
/// Deterministic; of equal edges the first.
CheapestPath cheapest_path(const StateGraph& graph, int from, int to);

struct FilterPath {
    std::vector<FilterTransition> transitions;
    Seconds seconds = 0;
};

/// The cheapest path of a program of filters through the states that its image may be in: on rank
/// 0, on all ranks of a grid, in its tiles. Tiles may change on the way, between those of `best`
/// and those of grids that are cheaper in some part.
///
/// Input     what parts take on each grid, and the best way that keeps to one of them.
/// Throws    model::CannotExpress. Deterministic.
/// Source    Seinstra and Koelma, as state_graph.hpp
FilterPath cheapest_filter_path(const FilterQuestion& question,
                                const std::vector<GridPrices>& grids, const filtering::Way& best,
                                FilterPrices& prices);

} // namespace sextant::planner
