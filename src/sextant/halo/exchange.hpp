// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <array>
#include <vector>

namespace sextant::halo {

/// The number of pixels that a tile needs around it: x to the left and right, y above and below.
struct Margin {
    constexpr Margin(Elements both = 0) : x(both), y(both) {}
    constexpr Margin(Elements along_x, Elements along_y) : x(along_x), y(along_y) {}
    Elements x, y;
};

/// A grid of tiles that need pixels around them; tile() returns a tile without its margin. The grid
/// may be a window of whole rows of a taller image. Then `above` rows above the window and `below`
/// rows below it are available too; every rank reads them itself.
struct Grid : sextant::Grid {
    Margin margin;
    Elements above = 0, below = 0;

    /// The available part of the image, in the grid's coordinates.
    Tile at_hand() const { return {0, -above, width, height + above + below}; }
};

using sextant::Tile;
using sextant::tile;

/// A tile with its margin on all sides, partly outside of the image. An empty tile stays empty.
Tile padded_tile(const Grid& grid, int rank);
/// Like padded_tile, but clipped to the available image, so margins exist only towards neighbours.
Tile clipped_tile(const Grid& grid, int rank);

/// The intersection of two rectangles; may be empty.
Tile common(const Tile& a, const Tile& b);

/// The region of a part of a tile in a buffer that holds the tile row by row: a run per row, or a
/// single run if the rows are contiguous.
Region place_in(const Tile& held, const Tile& part, int buffer);

/// Halo exchange with all ranks whose pixels are in a tile's margin, corners included: the eight
/// neighbours, and those beyond if a margin is wider than a neighbour's tile. Afterwards the margin
/// holds their pixels; outside the image it is unchanged.
///
/// Input     the tile with its margin (padded_tile), row by row; only the tile need be defined.
/// Output    the same buffer. Strips along columns are strided regions.
/// Cost      one message to and one from each rank whose tile overlaps the margin, at most 8 if no
///           tile is smaller than the margin; no message waits for another.
/// Source    the ghost-cell pattern, as in P-3PC's partial tile exchange
Program exchange(const Grid& grid, int rank);

/// The ranks, in ascending order, that may hold pixels of the margin inside `held`. The same ranks
/// may need pixels of this rank.
std::vector<int> peers_of(const Grid& grid, int rank, const Tile& held);

/// Adds the messages of `exchange`, for a buffer that holds the rectangle `held_by(grid, rank)`:
/// padded_tile or clipped_tile.
void add_exchange(ProgramBuilder& builder, const Grid& grid, int rank, const Region& buffer,
                  Tile (*held_by)(const Grid& grid, int rank));

/// Halo exchange in four successive steps: to the right, to the left, upwards, downwards. Strips
/// sent upwards or downwards include the margins received from the sides, so corners need no
/// messages of their own. These strips are contiguous, because margins exist only towards
/// neighbours.
///
/// Input     the tile with its margins, clipped to the image (clipped_tile), row by row; only the
///           tile need be defined.
/// Output    the same buffer, with the neighbours' pixels in the margins.
/// Cost      at most 4 messages per rank, at most 2 at a time (window 1); more if a margin is wider
///           than a neighbour's tile.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
Program axis_exchange(const Grid& grid, int rank);

/// The margin of a tile inside the image, as four bands (above, left, right, below): those above
/// and below are as wide as the tile with its margin, those to the sides as high as the tile.
using Frame = std::array<Tile, 4>;
Frame frame_of(const Grid& grid, int rank);

/// Halo exchange that does not move the tile: the margin is received in a separate buffer.
///
/// Input     the tile, row by row.
/// Output    the bands of the frame one after another, each row by row.
/// Cost      as `exchange`; memory grows with the border, not with the tile.
Program frame_exchange(const Grid& grid, int rank);

} // namespace sextant::halo
