// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <span>
#include <vector>

#include "context.hpp"

// The schedule of a frame whose ranks read each other's memory. The tile is cut into rectangles
// that are drawn by the same ranks, and the rectangles are divided evenly among ranks. Each pixel
// of a rank is read once, in the memory of the rank that drew it, and each pixel of the tile is
// written once, in the memory of its display. Pixels outside a rank's part are not read.
namespace sextant::icet {

/// A rectangle of a tile that is drawn by the same ranks.
struct Overlap {
    Viewport pixels;
    std::vector<int> ranks; ///< ranks that draw the rectangle, front to back; if empty, background
    int owner;              ///< rank that composites the rectangle
};

/// Cuts a tile into rectangles, so that every rank reads and writes about the same number of
/// pixels.
///
/// Input     the rectangle that each rank draws, by rank, within the tile; all ranks, front to
///           back.
/// Output    disjoint rectangles that cover the tile.
/// Cost      about 4 p³ for p ranks.
std::vector<Overlap> overlaps_of(IceTInt width, IceTInt height, std::span<const Viewport> drawn,
                                 std::span<const int> order);

/// The images that a rank has drawn: planes of `width` by `height` pixels, in which the rank's
/// rectangle begins at `x`, `y`. Empty if the rank draws nothing.
struct DrawnPlanes {
    IceTInt width = 0, height = 0, x = 0, y = 0;
    bool operator==(const DrawnPlanes&) const = default;
};

/// The program of one rank. Elements are words of four bytes. The inputs are the planes of colours
/// and of depths that the rank draws, if any. On the display, the output is the tile, with the
/// layout of `made`.
///
/// Kernel k composites an Overlap that k ranks draw: it reads, for each of these ranks front to
/// back, the planes of `read`, and writes the planes of `made`. It reads in place.
Program overlap_program(std::span<const Overlap> overlaps, std::span<const Viewport> drawn,
                        const Viewport& tile, const Planes& read, const Planes& made,
                        const DrawnPlanes& own, int display, int rank);

} // namespace sextant::icet
