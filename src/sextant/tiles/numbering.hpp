// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/grid.hpp"

#include <span>
#include <vector>

namespace sextant {

/// A tile's contribution to an item that may span several tiles. The item is identified by one of
/// its pixels (y · width + x), in any tile: a component by its first pixel, a contour by its head.
struct Share {
    Elements pixel = 0;
    Elements weight = 0; ///< contribution of this tile
};

/// The position of an item in the numbering.
struct Standing {
    Elements number = 0; ///< counted from 0
    Elements before = 0; ///< total weight of the items numbered before it
    Elements weight = 0; ///< weight of the item in all tiles
    bool operator==(const Standing&) const = default;
};

struct Numbering {
    std::vector<Standing> standings; ///< one position per contribution
    Elements count = 0, weight = 0;  ///< totals of all items
};

/// Numbers items in the row-major order of their pixels in the image, independently of the grid.
/// The rank whose tile contains an item's pixel sums the contributions to the item and replies to
/// the contributing ranks.
///
/// Input     this rank's contributions; an item may have several.
/// Requires  as many ranks as tiles; a contribution to each item from the tile that contains its
///           pixel.
/// Collective.
/// Cost      messages as long as the contributions to items whose pixels are in other tiles; an
///           all-gather of two numbers for each row of pixels of each tile.
/// Deterministic  the same numbers for every grid.
Numbering number_by_pixels(const Communicator& communicator, const Grid& grid,
                           std::span<const Share> shares);

} // namespace sextant
