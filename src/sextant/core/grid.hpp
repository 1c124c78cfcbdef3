// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sextant {

/// An image divided into columns × rows tiles, assigned to ranks row by row; or a volume divided
/// into columns × rows × layers boxes, assigned layer by layer. Tiles differ by at most one pixel
/// in width, height and depth; they may be empty.
struct Grid {
    Elements width = 0, height = 0; ///< size of the image in pixels
    int columns = 1, rows = 1;
    Elements depth = 1; ///< number of planes of a volume
    int layers = 1;     ///< number of tiles along the depth

    int ranks() const { return columns * rows * layers; }
    Elements elements() const { return width * height * depth; }
};

/// Divides `elements` values into `ranks` pieces, as an image one pixel wide.
inline Grid strips(int ranks, Elements elements) {
    return {1, elements, 1, ranks};
}

/// The grid of `ranks` tiles that is nearest to square, with at least as many columns as rows.
Grid near_square(int ranks, Elements width, Elements height);

/// The numbers of columns and rows of tiles and, for a volume, of layers.
struct Tiles {
    int columns = 1, rows = 1, layers = 1;

    std::int64_t count() const { return std::int64_t{columns} * rows * layers; }
    /// A short text: "3x2", or "3x2x4" with several layers.
    std::string text() const;
    bool operator==(const Tiles&) const = default;
};

/// The grid with these columns and rows; near_square() if `tiles` is empty.
/// Throws    InvalidTask, with a message that begins with "grid", unless there is one tile per
///           rank and one layer.
Grid grid_of(std::optional<Tiles> tiles, int ranks, Elements width, Elements height);

/// The position and size of a tile in the image or volume, in pixels.
struct Tile {
    Elements x = 0, y = 0, width = 0, height = 0;
    Elements z = 0, depth = 1; ///< the planes of a volume

    Elements elements() const { return width * height * depth; }
    /// True if this tile of an image contains all pixels of `part`.
    bool holds(const Tile& part) const {
        return part.x >= x && part.y >= y && part.x + part.width <= x + width &&
               part.y + part.height <= y + height;
    }
    bool holds(Elements column, Elements row) const { return holds({column, row, 1, 1}); }
};

Tile tile(const Grid& grid, int rank); ///< empty if the grid has no such rank

/// The rank whose tile holds pixel (x, y), of plane z if the grid divides a volume.
int rank_at(const Grid& grid, Elements x, Elements y, Elements z = 0);
/// The rank whose tile of an image holds pixel y · width + x.
inline int rank_of_pixel(const Grid& grid, Elements pixel) {
    return rank_at(grid, pixel % grid.width, pixel / grid.width);
}

} // namespace sextant
