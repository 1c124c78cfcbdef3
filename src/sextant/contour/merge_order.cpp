// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/merge_order.hpp"

#include <algorithm>

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

Stages log_level_quad(const Grid& grid) {
    const std::vector<Digit> columns = digits(grid.columns), rows = digits(grid.rows);
    Stages stages;
    for (std::size_t i = 0; i < std::max(columns.size(), rows.size()); ++i) {
        if (i < columns.size())
            stages.push_back({columns[i], {}});
        if (i < rows.size())
            stages.push_back({{}, rows[i]});
    }
    return stages;
}

Stages one_level_direct(const Grid& grid) {
    Stages stages = log_level_quad(grid);
    std::reverse(stages.begin(), stages.end());
    return stages;
}

Stages two_level_rows_columns(const Grid& grid) {
    std::vector<Digit> columns = digits(grid.columns), rows = digits(grid.rows);
    std::reverse(columns.begin(), columns.end());
    std::reverse(rows.begin(), rows.end());
    Stages stages;
    for (const Digit column : columns)
        stages.push_back({column, {}});
    for (const Digit row : rows)
        stages.push_back({{}, row});
    return stages;
}

} // namespace sextant::contour
