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
    const Elements x = held.x + place % held.width, y = held.y + place / held.width;
    const bool in_tile =
        x >= own.x && x < own.x + own.width && y >= own.y && y < own.y + own.height;
    const bool in_image = x >= 0 && x < grid.width && y >= 0 && y < grid.height;
    if (!(margin_known ? in_image : in_tile))
        return {};
    return {y * grid.width + x, 0, 1, 0};
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
    const int ranks = grid.columns * grid.rows;
    return {fmt::format("halo {}x{} on {}x{} tiles, margin {}x{}", grid.width, grid.height,
                        grid.columns, grid.rows, grid.margin.x, grid.margin.y),
            make_schedule(ranks, [&](int rank) { return halo.program(grid, rank); }), claim};
}

} // namespace sextant::test
