// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/edge/canny.hpp"

#include <cstdint>
#include <vector>

namespace sextant::kernel {

/// Finds edges of a tile in rows of its gradient, given one after another from the top down: of
/// them three are kept.
class EdgeRows {
  public:
    /// Requires  thresholds 0 ≤ low ≤ high, a tile within the image, not empty.
    EdgeRows(const Tile& tile, ImageShape image, EdgeThresholds thresholds, const EdgePlane& codes);

    /// The pixels whose gradients are needed: the tile and those around it.
    const Tile& needed() const { return needed_; }
    /// The next row of `needed()`.
    void take(const float* x, const float* y);

  private:
    std::size_t place(Elements y) const { return static_cast<std::size_t>((y + 3) % 3) * pitch_; }
    void classify(Elements y);

    const Tile tile_, needed_;
    const EdgePlane codes_;
    const float low_, high_; // the lower one is more than 0
    const std::size_t pitch_;
    Elements next_;
    std::vector<float> lengths_; // from the pixel left of the tile on; 0 beyond the image
    std::vector<std::uint8_t> headings_;
};

/// A rectangle with so many pixels around it, as far as the image goes.
Tile grown(const Tile& tile, Elements by, ImageShape image);

} // namespace sextant::kernel
