// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/list_sizes.hpp"

#include <cmath>

namespace sextant::contour {

Elements border_length(const Order& order, Run run) {
    const Grid& grid = order.grid();
    const auto outside = [&](int column, int row) { return order.is_outside(run, column, row); };
    Elements length = 0;
    for (int t = 0; t < grid.ranks(); ++t) {
        if (!run.holds(order.position(t)))
            continue;
        const int column = t % grid.columns, row = t / grid.columns;
        const Tile own = tile(grid, t);
        length += own.height * (outside(column - 1, row) + outside(column + 1, row));
        length += own.width * (outside(column, row - 1) + outside(column, row + 1));
    }
    return length;
}

ListSizes sizes_by_border(std::shared_ptr<const Order> order, double entering) {
    return [=](Run run) {
        const auto length = static_cast<double>(border_length(*order, run));
        return static_cast<Elements>(std::ceil(length * entering));
    };
}

} // namespace sextant::contour
