// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/tile_list.hpp"

#include <span>
#include <vector>

namespace sextant::contour {

/// A pixel (y · width + x) where a contour comes into some tiles from outside, and where it goes.
struct Crossing {
    Elements pixel = 0;
    Elements before = 0;      ///< the pixel outside that it comes from
    Elements end = 0;         ///< its head if that lies in these tiles, else the pixel outside that
                              ///< it goes on with
    Elements links = 0;       ///< to `end`
    Elements smallest = 0;    ///< the smallest pixel on the way
    Elements to_smallest = 0; ///< links there
    bool operator==(const Crossing&) const = default;
};

/// What some tiles that lie together in an order know of the contours that cross their border: a
/// list by pixels. A closed contour ends at its smallest pixel as soon as it is all within.
using Boundary = TileList<Crossing>;

/// Follows contours through all of several lists: what comes in is led on as far as these tiles
/// know. Nothing is left out.
/// Requires  crossings that differ in their pixels.
/// Cost      O(n log n) for n crossings.
std::vector<Crossing> follow(std::span<const Boundary> lists);

/// The list of the tiles of all lists together: what comes in from outside.
Boundary merge(const Order& order, std::span<const Boundary> lists);

/// A crossing by its pixel, in a list by pixels; null where there is none.
const Crossing* find(std::span<const Crossing> crossings, Elements pixel);

} // namespace sextant::contour
