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

} // namespace sextant::collective
