// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/edge/edge_links.hpp"

#include <span>

namespace sextant::kernel {

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
