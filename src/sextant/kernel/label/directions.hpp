// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"

#include <cstdint>

namespace sextant::kernel {

/// Which of its neighbours follows an edge point: 0 … 7, clockwise as one sees it, from the right.
using Direction = std::int8_t;

inline constexpr Direction no_edge = -1;  ///< not an edge point
inline constexpr Direction edge_end = -2; ///< an edge point that none follows: a head

/// What lies in each direction: rows run downward.
struct Step {
    int x, y;
};
inline constexpr Step steps[8] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                  {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

/// Directions of a rectangle of an image, which may be the whole of it.
struct DirectionView {
    const Direction* first = nullptr; ///< at the top left
    Elements stride = 0;              ///< from one row to the next
    Tile tile;                        ///< where the rectangle lies in the image
    ImageShape image;                 ///< the whole
};

} // namespace sextant::kernel
