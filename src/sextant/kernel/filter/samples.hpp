// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/filter/border.hpp"

#include <cstdint>
#include <span>
#include <variant>

namespace sextant::kernel {

/// Samples of a rectangle of an image, which may be the whole of it.
struct SampleView {
    /// Of the one at the top left.
    std::variant<const float*, const std::uint8_t*, const std::uint16_t*> first;
    Elements stride = 0; ///< from one row to the next; negative where the image is bottom up
    Tile tile;           ///< where the rectangle lies in the image
    ImageShape image;    ///< the whole
};

/// Samples of an image that lie in several rectangles.
using SamplePieces = std::span<const SampleView>;

/// Where the samples of a result go.
struct Plane {
    float* first = nullptr;
    Elements stride = 0; ///< as SampleView's
};

/// The smallest rectangle of an image that a filter computes `tile` from which reaches so many
/// samples to the left and right, up and down: the tile with its halo, clipped to the image. Where
/// a mirror shows more of an image thinner than that, this too.
/// Requires  a tile within the image, not empty.
/// Cost      O(reach).
Tile read_for(const Tile& tile, ImageShape image, int reach_x, int reach_y, Border border);

} // namespace sextant::kernel
