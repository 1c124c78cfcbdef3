// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/grid.hpp"

#include <span>
#include <vector>

namespace sextant {

/// A tile's share of a thing that may span tiles. The thing is identified by one of its pixels (y ·
/// width + x), in any tile: a component by its first pixel, a contour by its head.
struct Share {
    Elements pixel = 0;
    Elements weight = 0; ///< this tile's part
};

/// A thing's place in the numbering.
struct Standing {
    Elements number = 0; ///< from 0
    Elements before = 0; ///< total weight of the things numbered before it
    Elements weight = 0; ///< its own weight, in all tiles
    bool operator==(const Standing&) const = default;
};

struct Numbering {
    std::vector<Standing> standings; ///< by share
    Elements count = 0, weight = 0;  ///< of all things
};

/// Numbers things in the row-major order of their pixels in the image, whatever the grid. The rank
/// whose tile has a thing's pixel adds up its shares and replies to the ranks that have one.
///
/// Input     this rank's shares; a thing may have several.
/// Requires  as many ranks as tiles; a share of each thing in the tile of its pixel.
/// Collective.
/// Cost      messages as long as the shares of things whose pixels lie in other tiles; an
///           all-gather of two numbers for each row of pixels of each tile.
/// Deterministic  the same numbers for every grid.
Numbering number_by_pixels(const Communicator& communicator, const Grid& grid,
                           std::span<const Share> shares);

} // namespace sextant
