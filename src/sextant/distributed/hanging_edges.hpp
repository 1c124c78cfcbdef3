// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/join_components.hpp"
#include "sextant/kernel/edge/canny.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// Edges of a tile that hang together, and which of them have a strong point: hysteresis is the
/// question which have one anywhere.
class HangingEdges {
  public:
    /// Throws InvalidTask as kernel::Labeller.
    HangingEdges(const kernel::EdgePlane& codes, const Tile& tile, ImageShape image);

    /// For join_components() or frontier_of(); marked where strong.
    ComponentsOfTile components() const;
    /// Takes away the edges of parts that are not marked; the rest become weak ones.
    void keep(std::span<const PartOf> parts) const;

  private:
    kernel::EdgePlane codes_;
    kernel::SampleView view_;
    kernel::Labeller labeller_;
    std::vector<Elements> first_pixels_;
    std::vector<std::uint8_t> strong_;
};

} // namespace sextant
