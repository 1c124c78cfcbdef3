// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"

#include <vector>

namespace sextant::collective {

/// Where the pixels of `inner` lie when a rectangle that holds it lies row by row in `buffer` from
/// its start; empty where `inner` is.
Region region_of(const Tile& outer, const Tile& inner, int buffer);

/// The pixels of consecutive tiles as they lie packed in a buffer: at most three rectangles one
/// after another, each row by row: the rest of a row of tiles, whole rows, the beginning of a row.
/// All tiles of a grid are the image itself.
class TileRange {
  public:
    /// Tiles first ... last − 1. `last` may lie beyond the grid.
    TileRange(const Grid& grid, int first, int last);

    Elements elements() const;

    /// Where the pixels of `part`, a range within this one, lie when this range is packed into
    /// `buffer` from its start, in the order in which `part` packs them.
    std::vector<Region> regions_of(const TileRange& part, int buffer) const;
    /// The same for one tile; empty where the tile is.
    Region region_of(const Grid& grid, int tile, int buffer) const;

  private:
    Region place(const Tile& inner, int buffer) const;

    std::vector<Tile> rectangles_;
};

/// A rectangle of the processors that hold the tiles of a grid: what is sent within it does not
/// meet what is sent in others. Ranks are numbered row by row over the whole grid.
struct Submachine {
    int column = 0, row = 0, columns = 0, rows = 0;

    int size() const { return columns * rows; }
    bool operator==(const Submachine&) const = default;
};

Submachine whole_machine(const Grid& grid);

/// The processor at its first column and row, which speaks for it.
int leader(const Grid& grid, const Submachine& machine);
bool contains(const Grid& grid, const Submachine& machine, int rank);
/// Its ranks, ascending.
std::vector<int> ranks_of(const Grid& grid, const Submachine& machine);
/// The pixels of its tiles: a rectangle too.
Tile pixels(const Grid& grid, const Submachine& machine);

/// The label of steps within a submachine; 0 for the whole machine. It says which submachine it is,
/// so that a model can charge it as what it is. Throws InvalidTask above 46,340 ranks, where there
/// are more submachines than labels.
int group_of(const Grid& grid, const Submachine& machine);
Submachine submachine_of(const Grid& grid, int group);

/// Cut along its longer side, its width where it is square: first the part with the leader, which
/// has this share of the length, and the larger half where halves differ. A single processor is
/// not cut.
std::vector<Submachine> cut_in_two(const Submachine& machine, double share = .5);

/// About √p squares: a side of n processors cut into round(√n) nearly equal parts. Row by row.
std::vector<Submachine> into_squares(const Submachine& machine);

} // namespace sextant::collective
