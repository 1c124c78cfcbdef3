// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/grid.hpp"

#include <span>
#include <vector>

namespace sextant {

/// What lies in a tile of something that is known by one of its pixels (y · width + x), which may
/// lie in another tile: of a component its first pixel, of a contour its head.
struct Share {
    Elements pixel = 0;
    Elements weight = 0; ///< how much of it
};

/// Where a thing stands among all.
struct Standing {
    Elements number = 0; ///< from 0
    Elements before = 0; ///< the weight of all that are numbered before it
    Elements weight = 0; ///< its own, in all tiles
    bool operator==(const Standing&) const = default;
};

struct Numbering {
    std::vector<Standing> standings; ///< [share]
    Elements count = 0, weight = 0;  ///< of all
};

/// Numbers things in the order of their pixels, row by row of the image, whatever the grid: the
/// rank whose tile holds a thing's pixel adds up its shares, and tells those that have some.
///
/// Input     this rank's shares, several of one thing too.
/// Requires  as many ranks as tiles; of each thing a share in the tile of its pixel.
/// Collective.
/// Cost      messages as long as the shares of things that are known by other tiles' pixels; and to
///           everyone two numbers for each row of pixels of each tile.
/// Deterministic  the same numbers for every grid.
Numbering number_by_pixels(const Communicator& communicator, const Grid& grid,
                           std::span<const Share> shares);

} // namespace sextant
