// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::halo {

/// A grid of tiles that need pixels around them. Their tiles are those of the grid, without margin.
struct Grid : sextant::Grid {
    Elements margin = 0; ///< pixels that a tile needs around it
};

using sextant::Tile;
using sextant::tile;

/// A tile with its margin on all sides, where it lies in the image: partly outside of it.
Tile padded_tile(const Grid& grid, int rank);
/// The same without what lies outside: margins towards neighbours only.
Tile clipped_tile(const Grid& grid, int rank);

/// Throws InvalidTask where a tile is narrower or lower than the margin, on every rank alike.
void check_margin(const Grid& grid);

/// Halo exchange with the eight neighbours, corners included: afterwards the margin of a tile holds
/// the neighbours' pixels, except outside the image, where it stays as it was.
///
/// Input     the tile with its margin around it, row by row; only the tile defined.
/// Output    the same buffer. Strips along columns are strided regions.
/// Requires  every tile to be at least `margin` wide and high; otherwise throws InvalidTask.
/// Cost      at most 8 messages a rank.
/// Source    the ghost-cell pattern, as in P-3PC's partial tile exchange
Program exchange(const Grid& grid, int rank);

} // namespace sextant::halo
