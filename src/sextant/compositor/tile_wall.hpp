// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/compositor/compositor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// True if two rectangles share a pixel.
bool overlap(const Rectangle& a, const Rectangle& b);

/// A part of the wall that one rank displays.
struct WallTile {
    Rectangle area;
    int owner = 0; ///< rank that receives the tile's image
};

/// Blends an image in tiles. Each tile is composited only by its owner and the ranks that draw in
/// it; all tiles of a frame are in flight at once. Planned once and used for any number of frames.
class TileWall {
  public:
    /// Input     the tiles, the same on all ranks; there may be gaps between tiles, and tiles may
    ///           overlap. `bounds`: the part of the wall where this rank draws, or empty.
    ///           `options.root` is ignored, and there is no race. An image order is rejected,
    ///           because a rank has one image per tile.
    /// Throws    AgreedFailure on every rank: in the same cases as Compositor (the message names
    ///           the tile); if a tile is empty or its owner does not exist; if tiles differ between
    ///           ranks.
    /// Collective.
    /// Cost      one communicator per tile.
    TileWall(Communicator communicator, std::vector<WallTile> tiles, Rectangle bounds,
             CompositeOptions options = {});

    /// Blends one frame.
    /// Input     by tile: this rank's image, as pixels of the operator's format. Empty if this rank
    ///           does not draw in the tile (see `draws`). Pixels outside this rank's bounds must be
    ///           byte-identical to those of Operator::fill_identity.
    /// Output    by tile: the composited image at the tile's owner, elsewhere a frame without
    ///           pixels. Valid until the next frame.
    /// Throws    AgreedFailure on every rank if an image has another size, if a pixel outside a
    ///           rank's bounds is not empty (names rank, tile and pixel), or if frame options
    ///           differ between ranks (names two ranks).
    /// Collective.
    /// Cost      the tiles, a small all-gather, and a check of all pixels outside the bounds.
    std::span<const Frame> composite(std::span<const std::span<const std::byte>> images,
                                     const FrameOptions& frame = {});

    /// Ends the use of this object on all ranks; see Compositor::fail. Not collective.
    void fail(const std::string& text);

    /// True if this rank's bounds touch a tile.
    bool draws(int tile) const;
    /// The compositor of a tile; null if this rank does not take part in it.
    const Compositor* compositor(int tile) const;

  private:
    void check(std::span<const std::span<const std::byte>> images) const;
    void check_empty_outside(int tile, std::span<const std::byte> image) const;
    void make_compositor(int tile, const std::vector<Rectangle>& bounds);
    void check_order(std::span<const int> order) const;
    void list_numbers(int tile, std::span<const int> order);
    const WallTile& at(int tile) const { return tiles_[static_cast<std::size_t>(tile)]; }

    Communicator communicator_;
    std::vector<WallTile> tiles_;
    Rectangle bounds_;
    Operator operator_;
    std::vector<std::optional<Compositor>> compositors_; // indexed by tile
    std::vector<Frame> frames_;                          // indexed by tile
    std::vector<std::vector<int>> numbers_; // [tile][rank]: index among the tile's ranks, or -1
    CompositeOptions options_;
    std::vector<int> asked_, order_; // options of the current frame; order of a tile's ranks
    std::vector<int> all_draw_; // image counts, all 1, so that the compared order lists all ranks
    std::vector<std::byte> empty_row_; // empty pixels, for a row of the widest tile
    Flight flight_;
};

} // namespace sextant
