// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"

#include <vector>

namespace sextant::contour {

/// One digit of a tile's column or row in mixed radix.
struct Digit {
    int base = 1, radix = 1;

    int of(int number) const { return number / base % radix; }
    /// Returns the number with this digit replaced.
    int with(int number, int digit) const { return number + (digit - of(number)) * base; }
};

/// The mixed-radix digits of numbers below `count`, with prime radices, least significant digit
/// first.
std::vector<Digit> digits(int count);

/// One merging stage: tiles that differ only in the digits `column` and `row` exchange their lists.
struct Stage {
    Digit column, row;

    int size() const { return column.radix * row.radix; }
    /// Returns a tile's index in the group of tiles with which it exchanges lists. tile_at()
    /// returns the tile with a given index in the group of `tile`.
    int place(const Grid& grid, int tile) const;
    int tile_at(const Grid& grid, int tile, int place) const;
};

/// The merging stages in order. Each digit of the column and row numbers occurs in exactly one
/// stage.
using Stages = std::vector<Stage>;

/// Consecutive tiles [first, last) in a merging order.
struct Run {
    int first = 0, last = 0;

    bool holds(int position) const { return position >= first && position < last; }
};

/// The merging order, in which the tiles merged by each stage are consecutive: the digits of the
/// first stage are the least significant.
class Order {
  public:
    Order(const Grid& grid, const Stages& stages);

    const Grid& grid() const { return grid_; }
    int position(int tile) const { return positions_[static_cast<std::size_t>(tile)]; }
    /// True if (column, row) is a tile of the grid that is not in the run.
    bool is_outside(Run run, int column, int row) const {
        return column >= 0 && column < grid_.columns && row >= 0 && row < grid_.rows &&
               !run.holds(position(row * grid_.columns + column));
    }
    /// The position of the tile that holds a pixel (y · width + x) of the image.
    int position_of_pixel(Elements pixel) const { return position(rank_of_pixel(grid_, pixel)); }

  private:
    Grid grid_;
    std::vector<int> positions_;
};

/// logp-lev-quad: squares of 2 × 2 neighbouring tiles merge, first in horizontal pairs and then
/// pairs of pairs; then squares of 2 × 2 such squares, and so on. If a side of the grid is not a
/// power of two, groups have the sizes of its prime factors. Once all tiles along one side are
/// merged, only the other side is merged further.
Stages log_level_quad(const Grid& grid);

/// 1-lev-dir: all lists go to all ranks, by exchanges over the longest distance first. Tiles that
/// exchange lists are far apart until the last stages, so few contours join and lists grow long.
Stages one_level_direct(const Grid& grid);

/// 2-lev-rc: the tiles of each row exchange all their lists, then the tiles of each column exchange
/// the lists of the rows. Both exchanges start with the longest distance.
Stages two_level_rows_columns(const Grid& grid);

} // namespace sextant::contour
