// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/image.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <vector>

namespace sextant::distributed {

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
