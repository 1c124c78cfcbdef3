// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <optional>
#include <vector>

namespace sextant::distributed {

/// This rank's tile with the pixels around it, row by row.
struct Padded {
    Tile held; ///< where it lies in the image
    Memory pixels;
};

/// A tile that lies with room for so many pixels around it, as far as the image goes, which are
/// fetched from the ranks that hold them: again and again, as the tile changes.
class PaddedTile {
  public:
    /// With pixels of 0. Throws InvalidTask.
    PaddedTile(const Communicator& communicator, const Grid& grid, const ElementFormat& element,
               Elements margin);

    const Tile& held() const { return padded_.held; }
    std::byte* data() { return padded_.pixels.data(); }
    /// The tile's first pixel; rows lie as far apart as `held` is wide.
    std::byte* own();
    /// Collective. Cost  halo::axis_exchange.
    void exchange();
    /// Gives the memory away.
    Padded release();

  private:
    Communicator communicator_;
    Tile own_;
    Bytes element_size_;
    Padded padded_;
    std::optional<Execution> execution_;
};

/// Fetches so many pixels around each tile from the ranks that hold them, as far as the image goes.
/// Collective.
/// Cost      halo::axis_exchange.
Padded with_margin(const Image& image, Elements margin);

/// This rank's tile of an image, where it lies, and what lies around it.
struct Surrounded {
    std::vector<kernel::SampleView> pieces; ///< the tile first; they do not overlap
    Memory around;                          ///< where the other pieces lie
};

/// Fetches so many samples around each tile from the ranks that hold them, as far as the image
/// goes. Tiles are not copied for that.
/// Requires  samples of gray_f32, gray_u8 or gray_u16; otherwise every rank throws AgreedFailure.
///           The image outlives the pieces.
/// Collective.
/// Cost      halo::frame_exchange.
Surrounded with_surroundings(const Image& image, Elements margin);

} // namespace sextant::distributed
