// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/tile_list.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant::contour {

/// What is known of the component that a pixel is part of, in one number: many are sent.
class PartOfWhole {
  public:
    PartOfWhole() = default;
    PartOfWhole(Elements component, bool marked) : number_(2 * component + (marked ? 1 : 0)) {}
    /// The smallest pixel of the component, as far as these tiles know.
    Elements component() const { return number_ / 2; }
    /// Whether the component has a mark, as far as these tiles know.
    bool marked() const { return number_ % 2 != 0; }
    bool operator==(const PartOfWhole&) const = default;

  private:
    Elements number_ = 0;
};

/// A pixel (y · width + x) of a component that touches pixels outside of some tiles.
struct BorderPixel {
    Elements pixel = 0;
    /// Neighbours belong together where these are equal and not 0.
    std::uint64_t value = 1;
    PartOfWhole part;
    bool operator==(const BorderPixel&) const = default;
};

/// What some tiles that lie together in an order know of the components that reach their border: a
/// list by pixels.
using Frontier = TileList<BorderPixel>;

/// Which pixels touch one: those at its sides, or those at its corners too.
enum class Touch : std::uint8_t { sides, corners };

/// Joins the components of several lists where their pixels touch. Nothing is left out.
/// Requires  pixels that differ.
/// Cost      O(n log n) for n pixels.
std::vector<BorderPixel> join(std::span<const Frontier> lists, Elements width, Touch touch);

/// The list of the tiles of all lists together: pixels that touch others outside of them.
Frontier merge(const Order& order, std::span<const Frontier> lists, Touch touch);

} // namespace sextant::contour
