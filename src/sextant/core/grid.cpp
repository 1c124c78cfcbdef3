// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/grid.hpp"

#include "sextant/core/error.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace sextant {

Grid near_square(int ranks, Elements width, Elements height) {
    int rows = 1;
    for (int divisor = 1; divisor <= ranks / divisor; ++divisor) {
        if (ranks % divisor == 0)
            rows = divisor;
    }
    return {width, height, ranks / rows, rows};
}

std::string Tiles::text() const {
    return fmt::format("{}x{}", columns, rows) + (layers == 1 ? "" : fmt::format("x{}", layers));
}

Grid grid_of(std::optional<Tiles> tiles, int ranks, Elements width, Elements height) {
    if (!tiles)
        return near_square(ranks, width, height);
    if (tiles->layers != 1)
        throw InvalidTask(fmt::format(
            "grid {}: only volumes have layers of tiles, expected columns x rows", tiles->text()));
    if (tiles->columns < 1 || tiles->rows < 1 || tiles->count() != ranks)
        throw InvalidTask(fmt::format("grid {}: {} tiles, expected one for each of the {} ranks",
                                      tiles->text(), tiles->count(), ranks));
    return {width, height, tiles->columns, tiles->rows};
}

Tile tile(const Grid& grid, int rank) {
    if (rank >= grid.ranks())
        return {};
    const int i = rank % grid.columns, j = rank / grid.columns % grid.rows;
    const int k = rank / grid.columns / grid.rows;
    const auto cut = [](Elements size, int part, int parts) { return size * part / parts; };
    Tile tile;
    tile.x = cut(grid.width, i, grid.columns);
    tile.y = cut(grid.height, j, grid.rows);
    tile.width = cut(grid.width, i + 1, grid.columns) - tile.x;
    tile.height = cut(grid.height, j + 1, grid.rows) - tile.y;
    tile.z = cut(grid.depth, k, grid.layers);
    tile.depth = cut(grid.depth, k + 1, grid.layers) - tile.z;
    return tile;
}

int rank_at(const Grid& grid, Elements x, Elements y, Elements z) {
    // The tile is the last one whose first pixel, ⌊size · tile / tiles⌋, is not beyond the given
    // pixel.
    const Elements column = ((x + 1) * grid.columns - 1) / grid.width;
    const Elements row = ((y + 1) * grid.rows - 1) / grid.height;
    const Elements layer = ((z + 1) * grid.layers - 1) / grid.depth;
    return static_cast<int>((layer * grid.rows + row) * grid.columns + column);
}

} // namespace sextant
