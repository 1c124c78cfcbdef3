// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"

#include "tests/support/schedules.hpp"

namespace sextant::test {

/// A halo exchange, and the tile with margins that its ranks' buffers hold.
struct Halo {
    Program (*program)(const halo::Grid& grid, int rank) = halo::exchange;
    halo::Tile (*held)(const halo::Grid& grid, int rank) = halo::padded_tile;
};

/// What a rank's buffer holds at one place: the pixel of the image there, or nothing where the
/// place is outside the image (`margin_known`) or outside the tile (otherwise).
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
