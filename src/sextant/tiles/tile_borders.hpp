// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/samples.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <optional>
#include <vector>

namespace sextant::distributed {

/// This rank's tile with a margin, row by row.
struct Padded {
    Tile held; ///< rectangle of the tile and its margin in the image
    Memory pixels;
};

/// A tile in memory with space for a margin, clipped to the image. After each change of the tile,
/// exchange() fetches the margin from the ranks that own its pixels.
class PaddedTile {
  public:
    /// Creates a tile whose pixels are 0. Throws InvalidTask.
    PaddedTile(const Communicator& communicator, const Grid& grid, const ElementFormat& element,
               Elements margin);

    const Tile& held() const { return padded_.held; }
    std::byte* data() { return padded_.pixels.data(); }
    /// Returns the tile's first pixel; the row stride is the width of `held`.
    std::byte* own();
    /// Updates the margin. Collective. Cost: that of halo::axis_exchange.
    void exchange();
    /// Moves the pixels out of this object.
    Padded release();

  private:
    Communicator communicator_;
    Tile own_;
    Bytes element_size_;
    Padded padded_;
    std::optional<Execution> execution_;
};

/// Returns a copy of this rank's tile with a margin, clipped to the image. The margin is fetched
/// from the ranks that own its pixels.
/// Collective.
/// Cost      that of halo::axis_exchange.
Padded with_margin(const Image& image, Elements margin);

/// This rank's tile of an image, without a copy, and the pixels around it.
struct TileWithBorder {
    std::vector<kernel::SampleView> pieces; ///< the tile, then disjoint rectangles around it
    Memory around;                          ///< memory of the pieces around the tile
};

/// Fetches the samples around each tile from the ranks that own them, up to `margin` pixels away
/// and clipped to the image. The tiles themselves are not copied.
/// Requires  samples of gray_f32, gray_u8 or gray_u16; otherwise every rank throws AgreedFailure.
///           The image must outlive the pieces.
/// Collective.
/// Cost      that of halo::frame_exchange.
TileWithBorder with_surroundings(const Image& image, Elements margin);

} // namespace sextant::distributed
