// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"

#include <cstdint>
#include <span>

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

// Which links of a direction map hold, row by row, in vectors. Where several edge points are
// followed by the same one, the link of the lowest direction holds; the others become heads.
// Rows are readable from [−2] to `link_slack` past their end.
namespace sextant::kernel {

inline constexpr Elements link_slack = 66;

/// Three rows, one under the other.
struct ThreeRows {
    const Direction *above, *here, *below;
};

/// What is told of a row of links.
struct LinkCounts {
    Elements junctions = 0; ///< points that more than one point is followed by
    bool faulty = false;    ///< there is a link to what is no edge point, or what is no direction
};

/// [x] for x from −1 to `width`: the direction of the link to x that holds, or no_edge.
LinkCounts find_predecessors(const ThreeRows& directions, Elements width, Direction* predecessors);

/// [x] from 0 to `width` − 1: the direction of the link from x if it holds, edge_end if not,
/// no_edge where there is no edge point; and those points in bits (row_bits.hpp). Writes up to
/// `link_slack` past the end. Returns how many links do not hold.
Elements find_successors(const Direction* directions, const ThreeRows& predecessors, Elements width,
                         Direction* successors, std::uint64_t* points);

/// A row of a tile: the links that hold, and the edge points.
struct LinkedRow {
    const Direction* successors;   ///< [x]: as find_successors()
    const Direction* predecessors; ///< [x]: as find_predecessors()
};

/// The links of a tile's rows that hold, one row after the other.
class LinkedRows {
  public:
    /// Input     directions within 2 pixels of the tile, as far as the image goes.
    /// Requires  them to be there, and a tile within the image; otherwise throws InvalidTask.
    void begin(const DirectionView& input, const Tile& tile);

    /// The next row. Writes its edge points as bits. Valid until the next call.
    /// Throws    InvalidTask where a link leads to no edge point or a code is none, with the pixel.
    LinkedRow next(std::uint64_t* points);

    Elements junctions() const { return junctions_; } ///< of rows before: followed more than once
    Elements cut() const { return cut_; }             ///< links that do not hold

  private:
    static constexpr Elements reach = 2;

    /// Rows of codes that take each other's places.
    class Ring {
      public:
        void resize(Elements rows, Elements pitch);
        Direction* row(Elements y) {
            return reinterpret_cast<Direction*>(memory_.data()) + (y + reach) % rows_ * pitch_ +
                   link_slack;
        }
        void clear(Elements y);

      private:
        Memory memory_;
        Elements rows_ = 0, pitch_ = 0;
    };

    void read(Elements y);
    void find_predecessors_of(Elements y);
    ThreeRows around(Ring& rows, Elements y);
    [[noreturn]] void refuse() const;

    DirectionView input_;
    Tile tile_;
    Elements y_ = 0, junctions_ = 0, cut_ = 0;
    Ring directions_, predecessors_, successors_;
};

} // namespace sextant::kernel
