// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

namespace sextant::halo {

/// An image cut into columns × rows tiles, dealt to ranks row by row.
struct Grid {
    Elements width = 0, height = 0; ///< of the image
    int columns = 1, rows = 1;
    Elements margin = 0; ///< pixels that a tile needs around it
};

/// A tile in the image, without its margin.
struct Tile {
    Elements x = 0, y = 0, width = 0, height = 0;
};

Tile tile(const Grid& grid, int rank);

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
