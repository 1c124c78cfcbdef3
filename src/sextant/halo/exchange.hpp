// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <array>
#include <vector>

namespace sextant::halo {

/// The number of pixels needed around a tile: x to the left and right, y above and below, z in the
/// planes before and after.
struct Margin {
    constexpr Margin(Elements in_image = 0) : Margin(in_image, in_image) {}
    constexpr Margin(Elements along_x, Elements along_y, Elements along_z = 0)
        : x(along_x), y(along_y), z(along_z) {}
    Elements x, y, z;
};

/// A grid of tiles with margins; tile() returns a tile without its margin. The grid may be a window
/// of whole rows of a taller image. Then `above` rows above the window and `below` rows below it
/// are available too; every rank reads these rows itself. Likewise, a window of whole planes of a
/// volume has `before` planes before it and `after` planes after it.
struct Grid : sextant::Grid {
    Grid() = default;
    Grid(const sextant::Grid& tiles, Margin around = {}) : sextant::Grid(tiles), margin(around) {}
    Grid(Elements across, Elements down, int tiles_across, int tiles_down, Margin around = {})
        : Grid(sextant::Grid{across, down, tiles_across, tiles_down}, around) {}

    Margin margin;
    Elements above = 0, below = 0;  ///< rows
    Elements before = 0, after = 0; ///< planes

    /// The available part of the image or volume, in the coordinates of the grid.
    Tile at_hand() const {
        return {0, -above, width, height + above + below, -before, depth + before + after};
    }
};

using sextant::Tile;
using sextant::tile;

/// A tile with its margin on all sides, which may extend beyond the image. An empty tile stays
/// empty.
Tile padded_tile(const Grid& grid, int rank);
/// The same as padded_tile, but clipped to the available image, so that margins exist only towards
/// neighbours.
Tile clipped_tile(const Grid& grid, int rank);

/// The parts of a tile's margin that lie above, below, before and after the window; may be empty.
std::vector<Tile> beyond(const Grid& grid, int rank);

/// The intersection of two tiles; may be empty.
Tile common(const Tile& a, const Tile& b);

/// Returns the regions of a part of a tile in a buffer that holds the tile plane by plane and row
/// by row. An empty part has no region. A part of an image has one: a run per row, or a single run
/// if the rows are contiguous. A part of a volume also has one, unless it is both narrower and less
/// high than the tile; then it has one per plane.
std::vector<Region> places_in(const Tile& held, const Tile& part, int buffer);

/// The same as places_in(), but always with a run per row, because a kernel needs the width of the
/// part.
std::vector<Region> rows_in(const Tile& held, const Tile& part, int buffer);
/// Returns the part of a tile that `count` regions made by rows_in() describe; `first` is the first
/// of these regions.
Tile part_in(const Tile& held, const Region& first, std::size_t count);

/// Copies a part from one buffer to another; the buffers hold `to_held` and `from_held`.
void add_copy(ProgramBuilder& builder, const Tile& part, const Tile& to_held, const Region& to,
              const Tile& from_held, const Region& from);

/// Halo exchange with all ranks whose pixels are in a tile's margin, corners included: the eight
/// neighbours (26 in a volume), and more distant ranks if a margin is wider than a neighbour's
/// tile. Afterwards the margin holds their pixels; outside the image it is unchanged.
///
/// Input     the tile with its margin (padded_tile), row by row; only the tile itself must be
///           defined.
/// Output    the same buffer. Strips along columns are strided regions.
/// Cost      one message to and one from each rank whose tile overlaps the margin, at most 8 (26 in
///           a volume) if no tile is smaller than the margin; no message waits for another.
/// Source    the ghost-cell pattern, as in P-3PC's partial tile exchange
Program exchange(const Grid& grid, int rank);

/// The ranks, in ascending order, that may own pixels of the margin inside `held`. The same ranks
/// may need pixels of this rank.
std::vector<int> peers_of(const Grid& grid, int rank, const Tile& held);

/// Adds the messages of `exchange` for a buffer that holds the rectangle `held_by(grid, rank)`,
/// where `held_by` is padded_tile or clipped_tile.
void add_exchange(ProgramBuilder& builder, const Grid& grid, int rank, const Region& buffer,
                  Tile (*held_by)(const Grid& grid, int rank));

/// Halo exchange in four successive steps: to the right, to the left, up, down. Strips sent up or
/// down include the margins received at the sides, so corners need no separate messages. These
/// strips are contiguous in an image, because margins exist only towards neighbours. In a volume,
/// two more steps, backwards and forwards, send whole planes of the tile and its margins, which are
/// contiguous.
///
/// Input     the tile with its margins, clipped to the image (clipped_tile), row by row; only the
///           tile itself must be defined.
/// Output    the same buffer, with the neighbours' pixels in the margins.
/// Cost      at most 4 messages per rank (6 in a volume), at most 2 at a time (window 1); more if a
///           margin is wider than a neighbour's tile.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
Program axis_exchange(const Grid& grid, int rank);

/// The margin of a tile inside the image, as six bands (before, above, left, right, below, after).
/// The bands before and after are planes of a volume, as wide and high as the tile with its margin.
/// The bands above and below are as wide as the tile with its margin; the bands at the sides are as
/// high as the tile.
using Frame = std::array<Tile, 6>;
Frame frame_of(const Grid& grid, int rank);

/// Halo exchange that leaves the tile in place and receives the margin in a separate buffer.
///
/// Input     the tile, row by row.
/// Output    the bands of the frame one after another, each row by row.
/// Cost      the same as `exchange`; memory grows with the border, not with the tile.
Program frame_exchange(const Grid& grid, int rank);

} // namespace sextant::halo
