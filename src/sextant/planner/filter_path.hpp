// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/planner/filter_choice.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::planner {

/// A transition from one state of the data to another.
struct Edge {
    int from = 0, to = 0;
    Seconds seconds = 0;
};

/// One stage: conversions that may precede an operation, in any number, and the ways to do the
/// operation. Edges give the states before and after.
struct Stage {
    std::vector<Edge> conversions, operations;
};

/// An edge of a path.
struct Hop {
    std::size_t stage = 0; ///< index; after the last operation, the number of stages
    bool operation = false;
    std::size_t edge = 0; ///< index into the stage's conversions or operations
};

/// The application state transition graph of Seinstra and Koelma: data passes through a sequence of
/// operations, and may be converted to another state before each of them and at the end.
struct StateGraph {
    int states = 0;
    std::vector<Stage> kinds;      ///< distinct stages
    std::vector<std::size_t> each; ///< index into `kinds` of each stage, in order
    std::vector<Edge> last;        ///< conversions after the last operation
};

struct CheapestPath {
    std::vector<Hop> hops;
    Seconds seconds = 0;
};

/// The cheapest path from one state to another. If there is none, the path has no hops and infinite
/// cost.
///
/// Cost      stages × conversions × the conversions of a path within one stage.
/// Deterministic; among equal edges the first is taken.
CheapestPath cheapest_path(const StateGraph& graph, int from, int to);

struct FilterPath {
    std::vector<FilterTransition> transitions;
    Seconds seconds = 0;
};

/// The cheapest path of a filter program through the states of its image: on rank 0, on all ranks
/// of a grid, in its tiles. Tiles may change on the way, between those of `best` and those of grids
/// that are cheaper in some part.
///
/// Input     the prices on each grid, and the best configuration that uses only one of them.
/// Throws    model::CannotExpress.
/// Deterministic.
/// Source    Seinstra and Koelma, as for StateGraph
FilterPath cheapest_filter_path(const FilterQuestion& question,
                                const std::vector<GridPrices>& grids, const filtering::Way& best,
                                FilterPrices& prices);

} // namespace sextant::planner
