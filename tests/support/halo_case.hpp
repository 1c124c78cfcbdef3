// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"

#include "tests/support/schedules.hpp"

namespace sextant::test {

/// What a rank's buffer holds at one place: the pixel of the image there, or nothing where the
/// place is outside the image (`margin_known`) or outside the tile (otherwise).
inline Symbol pixel_in_tile(const halo::Grid& grid, int rank, Elements place, bool margin_known) {
    const halo::Tile own = halo::tile(grid, rank);
    const Elements pitch = own.width + 2 * grid.margin;
    const Elements x = place % pitch - grid.margin, y = place / pitch - grid.margin;
    const bool in_tile = x >= 0 && x < own.width && y >= 0 && y < own.height;
    const bool in_image =
        own.x + x >= 0 && own.x + x < grid.width && own.y + y >= 0 && own.y + y < grid.height;
    if (!(margin_known ? in_image : in_tile))
        return {};
    return {(own.y + y) * grid.width + own.x + x, 0, 1, 0};
}

inline Case halo_case(const halo::Grid& grid) {
    Claim claim;
    claim.given = [grid](int rank, int, Elements e) { return pixel_in_tile(grid, rank, e, false); };
    claim.wanted = exactly([grid](int rank) {
        const halo::Tile own = halo::tile(grid, rank);
        const Elements size = (own.width + 2 * grid.margin) * (own.height + 2 * grid.margin);
        std::vector<Symbol> symbols;
        for (Elements e = 0; e < size; ++e)
            symbols.push_back(pixel_in_tile(grid, rank, e, true));
        return symbols;
    });
    const int ranks = grid.columns * grid.rows;
    return {fmt::format("halo {}x{} on {}x{} tiles, margin {}", grid.width, grid.height,
                        grid.columns, grid.rows, grid.margin),
            make_schedule(ranks, [&](int rank) { return halo::exchange(grid, rank); }), claim};
}

} // namespace sextant::test
