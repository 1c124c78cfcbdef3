// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/columns_rows_all_to_all.hpp"

#include "sextant/collective/routed_all_to_all.hpp"

namespace sextant::collective {

Program columns_rows_all_to_all(const Grid& grid, int rank) {
    const auto column_of = [&](int r) { return Submachine{r % grid.columns, 0, 1, grid.rows}; };
    const auto row_of = [&](int r) { return Submachine{0, r / grid.columns, grid.columns, 1}; };
    Route route;
    route.supersteps = 2;
    route.held = [&](int supersteps, int r) -> Blocks {
        if (supersteps == 0)
            return blocks_at_first(grid, r);
        if (supersteps == 1)
            return {ranks_of(grid, column_of(r)), ranks_of(grid, row_of(r))};
        return blocks_at_last(grid, r);
    };
    route.submachine = [&](int superstep, int r) {
        return superstep == 0 ? column_of(r) : row_of(r);
    };
    route.partners = [&](int superstep, int r) {
        return ranks_of(grid, route.submachine(superstep, r));
    };
    return routed_all_to_all(grid, route, rank);
}

} // namespace sextant::collective
