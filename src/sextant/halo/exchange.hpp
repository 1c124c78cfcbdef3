// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <array>
#include <vector>

namespace sextant::halo {

/// How many pixels a tile needs beside it, on both sides along each axis.
struct Margin {
    constexpr Margin(Elements both = 0) : x(both), y(both) {}
    constexpr Margin(Elements along_x, Elements along_y) : x(along_x), y(along_y) {}
    Elements x, y;
};

/// A grid of tiles that need pixels around them. Their tiles are those of the grid, without margin.
/// It may be a window of whole rows in a taller image: then so many rows of the image `above` and
/// `below` it are read too, by every rank for itself.
struct Grid : sextant::Grid {
    Margin margin;
    Elements above = 0, below = 0;

    /// All that is at hand of the image, in the grid's coordinates.
    Tile at_hand() const { return {0, -above, width, height + above + below}; }
};

using sextant::Tile;
using sextant::tile;

/// A tile with its margin on all sides, where it lies in the image: partly outside of it. An empty
/// tile needs nothing and stays empty.
Tile padded_tile(const Grid& grid, int rank);
/// The same without what is not at hand: margins towards neighbours only.
Tile clipped_tile(const Grid& grid, int rank);

/// What two rectangles of an image have in common; empty where that is nothing.
Tile common(const Tile& a, const Tile& b);

/// Where a part of a tile lies in a buffer that holds the tile row by row: a run a row, one where
/// rows follow one another.
Region place_in(const Tile& held, const Tile& part, int buffer);

/// Halo exchange with everyone whose pixels a tile's margin holds, corners included: the eight
/// neighbours, and who lies behind them where a margin is wider than a neighbour's tile. Afterwards
/// the margin holds their pixels, except outside the image, where it stays as it was.
///
/// Input     the tile with its margin around it (padded_tile), row by row; only the tile defined.
/// Output    the same buffer. Strips along columns are strided regions.
/// Cost      one message to and from each of them, at most 8 where no tile is smaller than the
///           margin; none waits for another.
/// Source    the ghost-cell pattern, as in P-3PC's partial tile exchange
Program exchange(const Grid& grid, int rank);

/// Who may hold pixels of the margin that lie within `held`, and may need pixels of this rank's:
/// rank by rank.
std::vector<int> peers_of(const Grid& grid, int rank, const Tile& held);

/// The messages of `exchange` alone, for a buffer that holds the rectangle `held_by(grid, rank)`:
/// padded_tile or clipped_tile.
void add_exchange(ProgramBuilder& builder, const Grid& grid, int rank, const Region& buffer,
                  Tile (*held_by)(const Grid& grid, int rank));

/// Halo exchange in four steps, one after another: to the right, to the left, upward, downward.
/// Strips that go up and down take along what came from the sides, so corners need no messages of
/// their own, and with margins towards neighbours only they are contiguous.
///
/// Input     the tile with its margins, clipped to the image (clipped_tile), row by row; only the
///           tile defined.
/// Output    the same buffer, with the neighbours' pixels in the margins.
/// Cost      at most 4 messages a rank, of which at most 2 at once (window 1); more where a margin
///           is wider than a neighbour's tile.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
Program axis_exchange(const Grid& grid, int rank);

/// What a tile's margin holds of the image, in four bands: those above and below are as wide as the
/// tile with its margin, those to the left and right as high as the tile.
using Frame = std::array<Tile, 4>;
Frame frame_of(const Grid& grid, int rank);

/// Halo exchange that leaves the tile where it lies: what belongs around it comes into a buffer of
/// its own.
///
/// Input     the tile, row by row.
/// Output    the bands of the frame one after another, each row by row.
/// Cost      as `exchange`; memory grows with the border, not with the tile.
Program frame_exchange(const Grid& grid, int rank);

} // namespace sextant::halo
