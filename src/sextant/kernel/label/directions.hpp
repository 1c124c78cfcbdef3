// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"

#include <cstdint>
#include <span>

namespace sextant::kernel {

/// The neighbour that follows an edge point: 0 … 7, clockwise on the screen, starting at the right.
using Direction = std::int8_t;

inline constexpr Direction no_edge = -1;  ///< not an edge point
inline constexpr Direction edge_end = -2; ///< an edge point without a successor: a head

/// The offset of a neighbour; rows run downward.
struct Step {
    int x, y;
};
inline constexpr Step steps[8] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                  {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

/// A rectangle with `by` pixels around it, clipped to the image.
Tile grown(const Tile& tile, Elements by, ImageShape image);

/// Directions of a rectangle of an image.
struct DirectionView {
    const Direction* first = nullptr; ///< the direction at the top left
    Elements stride = 0;              ///< distance between rows
    Tile tile;                        ///< the rectangle's position in the image
    ImageShape image;                 ///< the whole image
};

// Selection of the links of a direction map, row by row, in vectors. If several edge points have
// the same successor, only the link with the lowest direction is kept; the other points become
// heads. Rows are readable from [−2] to `link_slack` past their end.

inline constexpr Elements link_slack = 66;

/// Three adjacent rows.
struct ThreeRows {
    const Direction *above, *here, *below;
};

/// Statistics of a row of links.
struct LinkCounts {
    Elements junctions = 0; ///< points with several predecessors
    bool faulty = false;    ///< true if a code is invalid or a link leads to no edge point
};

/// For x from −1 to `width`: sets predecessors[x] to the direction of the kept link that leads to
/// x, or to no_edge if there is none.
LinkCounts find_predecessors(const ThreeRows& directions, Elements width, Direction* predecessors);

/// For x from 0 to `width` − 1: sets successors[x] to the direction of the link from x if it is
/// kept, otherwise to edge_end, or to no_edge if x is not an edge point. Writes the edge points as
/// bits to `points` (label_vectors.hpp). Writes up to `link_slack` directions past the end. Returns
/// the number of links that are not kept.
Elements find_successors(const Direction* directions, const ThreeRows& predecessors, Elements width,
                         Direction* successors, std::uint64_t* points);

/// The kept links of a row of a tile.
struct LinkedRow {
    const Direction* successors;   ///< [x]: see find_successors()
    const Direction* predecessors; ///< [x]: see find_predecessors()
};

/// The kept links of a tile's rows, one row after another.
class LinkedRows {
  public:
    /// Input     directions of the tile, and of the pixels within 2 pixels of it inside the image.
    /// Requires  these directions, and a tile within the image; otherwise throws InvalidTask.
    void begin(const DirectionView& input, const Tile& tile);

    /// Returns the next row, valid until the next call, and writes its edge points as bits.
    /// Throws    InvalidTask, naming the pixel, for an invalid code or a link that does not lead to
    ///           an edge point.
    LinkedRow next(std::uint64_t* points);

    Elements junctions() const { return junctions_; } ///< points so far with several predecessors
    Elements cut() const { return cut_; }             ///< links so far that are not kept

  private:
    static constexpr Elements reach = 2;

    /// A ring buffer of rows of codes.
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
