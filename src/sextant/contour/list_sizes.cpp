// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/list_sizes.hpp"

#include <cmath>

namespace sextant::contour {

namespace {

/// Calls body(tile, column, row) for each tile of a run.
template <class Body>
void each_tile(const Order& order, Run run, Body&& body) {
    const Grid& grid = order.grid();
    for (int t = 0; t < grid.ranks(); ++t) {
        if (run.holds(order.position(t)))
            body(t, t % grid.columns, t / grid.columns);
    }
}

/// How often a tile of a run touches one outside by a corner only.
Elements corners_outside(const Order& order, Run run) {
    Elements count = 0;
    each_tile(order, run, [&](int, int column, int row) {
        for (const int dy : {-1, 1}) {
            for (const int dx : {-1, 1})
                count += order.is_outside(run, column + dx, row + dy) &&
                         !order.is_outside(run, column + dx, row) &&
                         !order.is_outside(run, column, row + dy);
        }
    });
    return count;
}

} // namespace

Elements border_length(const Order& order, Run run) {
    const auto outside = [&](int column, int row) { return order.is_outside(run, column, row); };
    Elements length = 0;
    each_tile(order, run, [&](int t, int column, int row) {
        const Tile own = tile(order.grid(), t);
        length += own.height * (outside(column - 1, row) + outside(column + 1, row));
        length += own.width * (outside(column, row - 1) + outside(column, row + 1));
    });
    return length;
}

Elements most_on_border(const Order& order, Run run) {
    const Grid& grid = order.grid();
    if (grid.width < grid.columns || grid.height < grid.rows)
        return grid.width * grid.height; // a pixel may touch others across an empty tile
    return border_length(order, run) + corners_outside(order, run);
}

ListSizes sizes_by_border(std::shared_ptr<const Order> order, double entering) {
    return [=](Run run) {
        const auto length = static_cast<double>(border_length(*order, run));
        return static_cast<Elements>(std::ceil(length * entering));
    };
}

} // namespace sextant::contour
