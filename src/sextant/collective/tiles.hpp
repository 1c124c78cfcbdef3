// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"

#include <vector>

namespace sextant::collective {

/// The region of `inner` in a buffer that holds rectangle `outer` row by row; may be empty.
Region region_of(const Tile& outer, const Tile& inner, int buffer);

/// The pixels of consecutive tiles, packed in a buffer as at most three rectangles, each row by
/// row: the rest of a row of tiles, whole rows of tiles, and the beginning of a row. All tiles of a
/// grid together are the image itself.
class TileRange {
  public:
    /// Tiles first ... last − 1. `last` may be beyond the grid.
    TileRange(const Grid& grid, int first, int last);

    Elements elements() const;

    /// The regions of `part`, a subrange of this range, in a buffer that holds this range packed,
    /// in the order in which `part` packs them.
    std::vector<Region> regions_of(const TileRange& part, int buffer) const;
    /// The region of one tile; empty if the tile is.
    Region region_of(const Grid& grid, int tile, int buffer) const;

  private:
    Region place(const Tile& inner, int buffer) const;

    std::vector<Tile> rectangles_;
};

/// A rectangle of the processors that hold the tiles of a grid. Messages inside a submachine do not
/// share links with those inside disjoint ones. Ranks are numbered row by row over the whole grid.
struct Submachine {
    int column = 0, row = 0, columns = 0, rows = 0;

    int size() const { return columns * rows; }
    bool operator==(const Submachine&) const = default;
};

Submachine whole_machine(const Grid& grid);

/// The processor at its first column and row, which communicates for the submachine.
int leader(const Grid& grid, const Submachine& machine);
bool contains(const Grid& grid, const Submachine& machine, int rank);
/// Its ranks, ascending.
std::vector<int> ranks_of(const Grid& grid, const Submachine& machine);
/// The rectangle of pixels of its tiles.
Tile pixels(const Grid& grid, const Submachine& machine);

/// The label of steps within a submachine; 0 for the whole machine. It encodes the submachine, so
/// that models can charge its real extent. Throws InvalidTask above 46,340 ranks, for which there
/// are not enough labels.
int group_of(const Grid& grid, const Submachine& machine);
Submachine submachine_of(const Grid& grid, int group);

/// Cuts a submachine along its longer side (across its columns if it is square) into two parts. The
/// first has the leader and the fraction `share` of the length, rounded. One processor is not cut.
std::vector<Submachine> cut_in_two(const Submachine& machine, double share = .5);

/// Cuts a submachine into about √p squares: a side of n processors into round(√n) nearly equal
/// parts. Row by row.
std::vector<Submachine> into_squares(const Submachine& machine);

} // namespace sextant::collective
