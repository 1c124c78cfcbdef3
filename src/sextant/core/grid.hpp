// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

namespace sextant {

/// An image cut into columns × rows tiles, dealt to ranks row by row. Tiles differ by at most one
/// pixel in width and height; they may be empty.
struct Grid {
    Elements width = 0, height = 0; ///< of the image
    int columns = 1, rows = 1;

    int ranks() const { return columns * rows; }
};

/// `elements` values in so many pieces: an image one pixel wide.
inline Grid strips(int ranks, Elements elements) {
    return {1, elements, 1, ranks};
}

/// An image in as many columns of tiles as rows, or as nearly so as the ranks divide, then rather
/// more columns.
Grid near_square(int ranks, Elements width, Elements height);

/// A tile in the image.
struct Tile {
    Elements x = 0, y = 0, width = 0, height = 0;

    Elements elements() const { return width * height; }
};

Tile tile(const Grid& grid, int rank); ///< empty for a rank beyond the grid's

/// The rank whose tile holds a pixel of the image.
int rank_at(const Grid& grid, Elements x, Elements y);
/// The same of a pixel by its number, y · width + x.
inline int rank_of_pixel(const Grid& grid, Elements pixel) {
    return rank_at(grid, pixel % grid.width, pixel / grid.width);
}

} // namespace sextant
