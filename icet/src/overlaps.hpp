// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <span>
#include <vector>

#include "context.hpp"

// The schedule of a frame whose ranks read each other's memory: the tile is cut into rectangles
// that the same ranks draw, and these are divided evenly. Each pixel of a rank is read once,
// where the rank drew it, and each pixel of the tile is written once, in the memory of its display.
// Pixels that a rank does not draw are not read.
namespace sextant::icet {

/// A rectangle of a tile that the same ranks draw.
struct Overlap {
    Viewport pixels;
    std::vector<int> ranks; ///< those that draw it, front to back; none: background
    int owner;              ///< the rank that composites it
};

/// Cuts a tile into rectangles, so that every rank has about the same number of pixels to read and
/// write. Cost: about 4 p³ for p ranks.
///
/// Input     the rectangle that each rank draws, by rank, within the tile; all ranks, front to
/// back. Output    disjoint rectangles that cover the tile.
std::vector<Overlap> overlaps_of(IceTInt width, IceTInt height, std::span<const Viewport> drawn,
                                 std::span<const int> order);

/// The images that a rank draws from: planes of `width` by `height` pixels, in which the rectangle
/// that it draws begins at `x`, `y`. Empty if it draws nothing.
struct DrawnPlanes {
    IceTInt width = 0, height = 0, x = 0, y = 0;
    bool operator==(const DrawnPlanes&) const = default;
};

/// The program of one rank. Elements are words of four bytes. Its buffers are, where they exist,
/// the planes of colours and of depths that it draws (inputs), and on the display the tile (output,
/// laid out as in `made`).
///
/// Kernel k composites an Overlap that k ranks draw: it reads, for each of these front to back, the
/// planes of `read`, and makes the planes of `made`. It reads in place.
Program overlap_program(std::span<const Overlap> overlaps, std::span<const Viewport> drawn,
                        const Viewport& tile, const Planes& read, const Planes& made,
                        const DrawnPlanes& own, int display, int rank);

} // namespace sextant::icet
