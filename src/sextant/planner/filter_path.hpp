// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/filter_prices.hpp"

#include <vector>

namespace sextant::planner {

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
