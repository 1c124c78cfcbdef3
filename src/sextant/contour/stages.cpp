// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/stages.hpp"

namespace sextant::contour {

std::vector<Digit> digits(int count) {
    std::vector<Digit> found;
    int base = 1;
    for (int radix = 2; base < count;) {
        if (count / base % radix == 0) {
            found.push_back({base, radix});
            base *= radix;
        } else {
            ++radix;
        }
    }
    return found;
}

int Stage::place(const Grid& grid, int tile) const {
    return row.of(tile / grid.columns) * column.radix + column.of(tile % grid.columns);
}

int Stage::tile_at(const Grid& grid, int tile, int place) const {
    return row.with(tile / grid.columns, place / column.radix) * grid.columns +
           column.with(tile % grid.columns, place % column.radix);
}

Order::Order(const Grid& grid, const Stages& stages) : grid_(grid) {
    for (int tile = 0; tile < grid.ranks(); ++tile) {
        int position = 0, weight = 1;
        for (const Stage& stage : stages) {
            position += stage.place(grid, tile) * weight;
            weight *= stage.size();
        }
        positions_.push_back(position);
    }
}

} // namespace sextant::contour
