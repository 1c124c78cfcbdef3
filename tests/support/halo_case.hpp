// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"

#include <vector>

#include "tests/support/schedules.hpp"

namespace sextant::test {

/// Tiles with space for their neighbours' margins.
inline const std::vector<halo::Grid> halo_grids = {
    {7, 5, 1, 1, 2},     // no neighbours
    {26, 3, 8, 1, 3},    // a row; some tiles exactly as wide as the margin
    {4, 27, 1, 9, 2},    // a column
    {26, 27, 4, 4, 2},   // uneven tiles
    {26, 27, 3, 5, 2},   //
    {9, 15, 3, 5, 3},    // every tile exactly as wide and high as the margin
    {10, 16, 3, 5, 3},   // slightly larger tiles
    {16, 16, 2, 8, 2},   //
    {26, 27, 3, 5, 0},   // no margin
    {26, 27, 3, 5, 1},   //
    {34, 35, 7, 3, 4},   //
    {13, 13, 13, 13, 1}, // tiles of one pixel
};

/// Grids with margins that differ between the axes or are wider than a neighbour's tile, and with
/// empty tiles.
inline const std::vector<halo::Grid> wide_halo_grids = {
    {26, 27, 4, 4, {1, 3}}, {26, 27, 4, 4, {0, 2}}, {26, 27, 4, 4, {5, 0}}, {9, 15, 3, 5, 4},
    {26, 3, 8, 1, {9, 2}},  {4, 27, 1, 9, {3, 11}}, {13, 13, 13, 13, 4},    {26, 27, 5, 3, 40},
    {2, 9, 5, 2, {1, 3}},   {7, 3, 2, 6, 2},        {1, 1, 3, 3, 2},        {11, 17, 4, 7, {3, 6}},
};

inline std::vector<halo::Grid> all_halo_grids() {
    std::vector<halo::Grid> all = halo_grids;
    all.insert(all.end(), wide_halo_grids.begin(), wide_halo_grids.end());
    return all;
}

/// A halo exchange, and the padded tiles in its ranks' buffers.
struct Halo {
    Program (*program)(const halo::Grid& grid, int rank) = halo::exchange;
    halo::Tile (*held)(const halo::Grid& grid, int rank) = halo::padded_tile;
};

/// The expected content of a rank's buffer at one position: the pixel of the image, or nothing if
/// the position is outside the image (`margin_known`) or outside the tile (otherwise).
inline Symbol pixel_in_tile(const halo::Grid& grid, const Halo& halo, int rank, Elements place,
                            bool margin_known) {
    const halo::Tile own = halo::tile(grid, rank), held = halo.held(grid, rank);
    const Elements row = place / held.width;
    const halo::Tile pixel{held.x + place % held.width, held.y + row % held.height, 1, 1,
                           held.z + row / held.height};
    const halo::Tile known =
        margin_known ? halo::Tile{0, 0, grid.width, grid.height, 0, grid.depth} : own;
    if (halo::common(pixel, known).elements() == 0)
        return {};
    return {(pixel.z * grid.height + pixel.y) * grid.width + pixel.x, 0, 1, 0};
}

inline std::string name_of(const halo::Grid& grid) {
    return fmt::format("{}x{}x{} on {}x{}x{} tiles, margin {}x{}x{}", grid.width, grid.height,
                       grid.depth, grid.columns, grid.rows, grid.layers, grid.margin.x,
                       grid.margin.y, grid.margin.z);
}

/// Calls `visit` with every grid of boxes for every number of ranks from `fewest` to `most`, on
/// volumes whose boxes differ in size, are thinner than the margin, or are empty.
template <class Visit>
void for_each_volume_grid(int fewest, int most, Visit&& visit) {
    for (int ranks = fewest; ranks <= most; ++ranks) {
        for (int columns = 1; columns <= ranks; ++columns) {
            for (int rows = 1; ranks % columns == 0 && rows <= ranks / columns; ++rows) {
                if (ranks / columns % rows != 0)
                    continue;
                const int layers = ranks / columns / rows;
                visit(halo::Grid{{7, 5, columns, rows, 6, layers}, {2, 1, 3}});
                visit(halo::Grid{{5, 7, columns, rows, 4, layers}, {0, 3, 1}});
            }
        }
    }
}

inline Case halo_case(const halo::Grid& grid, const Halo& halo = {}) {
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        return pixel_in_tile(grid, halo, rank, e, false);
    };
    claim.wanted = exactly([=](int rank) {
        const Elements size = halo.held(grid, rank).elements();
        std::vector<Symbol> symbols;
        for (Elements e = 0; e < size; ++e)
            symbols.push_back(pixel_in_tile(grid, halo, rank, e, true));
        return symbols;
    });
    return {"halo " + name_of(grid),
            make_schedule(grid.ranks(), [&](int rank) { return halo.program(grid, rank); }), claim};
}

} // namespace sextant::test
