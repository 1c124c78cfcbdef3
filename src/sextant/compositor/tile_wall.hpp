// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/compositor/compositor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

/// Pixels of a wall of displays; row 0 is its top.
struct Rectangle {
    std::int64_t left = 0, top = 0, width = 0, height = 0;

    bool empty() const { return width <= 0 || height <= 0; }
    ImageShape shape() const { return {width, height}; }
    bool contains(std::int64_t x, std::int64_t y) const {
        return x >= left && x < left + width && y >= top && y < top + height;
    }
    bool operator==(const Rectangle&) const = default;
};

/// Whether two rectangles share a pixel.
bool overlap(const Rectangle& a, const Rectangle& b);

/// A part of the wall that one rank shows.
struct Tile {
    Rectangle area;
    int owner = 0; ///< the rank that gets its picture
};

/// Blends a picture in tiles, each by those ranks alone that draw something there, and its owner;
/// the tiles of a frame are on their way at once. Planned once, used frame after frame.
class TileWall {
  public:
    /// Input     the tiles, the same on all ranks: in any places, they may leave gaps and overlap.
    ///           `bounds`: where this rank draws, on the wall; empty if nowhere. Of the options
    ///           `root` has no meaning, and no race is held.
    /// Throws    AgreedFailure on every rank: as Compositor, naming the tile; a tile without pixels
    ///           or whose owner does not exist; tiles that differ between ranks.
    /// Collective.
    /// Cost      a communicator for each tile.
    TileWall(Communicator communicator, std::vector<Tile> tiles, Rectangle bounds,
             CompositeOptions options = {});

    /// Blends one frame.
    /// Input     this rank's image of each tile, as pixels of the operator's format. Empty where it
    ///           draws nothing (`draws`). Pixels outside its bounds hold nothing, to the byte
    ///           (Operator::fill_identity).
    /// Output    by tile: the picture at its owner; elsewhere a frame of no pixels. Valid until the
    ///           next frame.
    /// Throws    AgreedFailure on every rank where an image is of another size, or a pixel outside
    ///           a rank's bounds is not empty: with rank, tile and pixel. Where ranks give
    ///           different frame options, with two of them.
    /// Collective.
    /// Cost      besides the tiles a small all-gather, and a look at all pixels outside the bounds.
    std::span<const Frame> composite(std::span<const std::span<const std::byte>> images,
                                     const FrameOptions& frame = {});

    /// Whether this rank's bounds touch a tile.
    bool draws(int tile) const;
    /// How a tile is blended; null where this rank has no part in it.
    const Compositor* compositor(int tile) const;

  private:
    void check(std::span<const std::span<const std::byte>> images) const;
    void check_empty_outside(int tile, std::span<const std::byte> image) const;
    void make_compositor(int tile, const std::vector<Rectangle>& bounds);
    void check_order(std::span<const int> order) const;
    void list_numbers(int tile, std::span<const int> order);
    const Tile& at(int tile) const { return tiles_[static_cast<std::size_t>(tile)]; }

    Communicator communicator_;
    std::vector<Tile> tiles_;
    Rectangle bounds_;
    Operator operator_;
    std::vector<std::optional<Compositor>> compositors_; // by tile
    std::vector<Frame> frames_;                          // by tile
    std::vector<std::vector<int>> numbers_; // by tile and rank: in its compositor, or -1
    CompositeOptions options_;
    std::vector<int> asked_, order_;   // of the frame at hand; the order in a tile's numbers
    std::vector<int> all_draw_;        // as far as comparing goes: by rank 1
    std::vector<std::byte> empty_row_; // of the widest tile
    Flight flight_;
};

} // namespace sextant
