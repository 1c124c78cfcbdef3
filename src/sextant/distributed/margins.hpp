// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/distributed/image.hpp"

namespace sextant::distributed {

/// This rank's tile with the pixels around it, row by row.
struct Padded {
    Tile held; ///< where it lies in the image
    Memory pixels;
};

/// Fetches so many pixels around each tile from the ranks that hold them, as far as the image goes.
/// Collective.
/// Cost      halo::axis_exchange.
Padded with_margin(const Image& image, Elements margin);

} // namespace sextant::distributed
