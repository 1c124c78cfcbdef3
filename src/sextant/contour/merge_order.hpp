// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"

#include <vector>

namespace sextant::contour {

/// One digit of a tile's column or row, written in mixed radices.
struct Digit {
    int base = 1, radix = 1;

    int of(int number) const { return number / base % radix; }
    /// The number with another digit here.
    int with(int number, int digit) const { return number + (digit - of(number)) * base; }
};

/// The digits of the numbers below `count`, of prime radices, the lowest first.
std::vector<Digit> digits(int count);

/// One step of merging: tiles that differ in these digits only give each other what they know.
struct Stage {
    Digit column, row;

    int size() const { return column.radix * row.radix; }
    /// A tile's place among them, and the tile in another place.
    int place(const Grid& grid, int tile) const;
    int tile_at(const Grid& grid, int tile, int place) const;
};

/// Every digit of columns and rows once, in the order in which tiles are merged.
using Stages = std::vector<Stage>;

/// Tiles [first, last) in an order.
struct Run {
    int first = 0, last = 0;

    bool holds(int position) const { return position >= first && position < last; }
};

/// The order of tiles in which whatever a stage merges lies together: the digits of the first stage
/// count least.
class Order {
  public:
    Order(const Grid& grid, const Stages& stages);

    const Grid& grid() const { return grid_; }
    int position(int tile) const { return positions_[static_cast<std::size_t>(tile)]; }
    /// Whether a column and row name a tile of the grid that is not in a run.
    bool is_outside(Run run, int column, int row) const {
        return column >= 0 && column < grid_.columns && row >= 0 && row < grid_.rows &&
               !run.holds(position(row * grid_.columns + column));
    }
    /// Of the tile that a pixel (y · width + x) of the image lies in.
    int position_of_pixel(Elements pixel) const { return position(rank_of_pixel(grid_, pixel)); }

  private:
    Grid grid_;
    std::vector<int> positions_;
};

/// logp-lev-quad: two by two neighbours merge, those side by side and then both pairs; then two by
/// two of what they became, and so on. Where a side of the grid is no power of two, as many as its
/// prime factors say; a side that is used up first leaves the other to merge alone.
Stages log_level_quad(const Grid& grid);

/// 1-lev-dir: everyone's list goes to everyone by exchanges over the longest distance first. Tiles
/// that meet are far apart until the last exchanges: lists grow, since hardly anything merges.
Stages one_level_direct(const Grid& grid);

/// 2-lev-rc: everyone in a row of tiles gets all lists of the row, then everyone in a column those
/// of the rows; each over the longest distance first.
Stages two_level_rows_columns(const Grid& grid);

} // namespace sextant::contour
