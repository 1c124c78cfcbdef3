// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/operator.hpp"

#include <cstdint>
#include <span>

// Deep pixels with room for a stated number of fragments, which schedules move and fold like any
// pixel: a count, and so many fragments, nearest first. What lies behind them is of no meaning.
namespace sextant::kernel {

/// The most that a pixel may have room for.
inline constexpr int largest_capacity = 1024;

/// A pixel with room for `capacity` fragments. Throws InvalidTask unless that is 1 to
/// largest_capacity.
ElementFormat deep_element(int capacity);

/// Merges the fragments of each pixel by depth; of equal depths those of earlier operands come
/// first. So the result is that of one stable sort, with the same bits however folds are bracketed.
///
/// A pixel of more fragments than it has room for keeps the nearest, and counts all: nothing is
/// lost unseen, `fullest` finds it. Brackets change nothing in that either.
Operator deep_operator(int capacity);

/// Makes deep pixels with room of an image that has no fault. Output: shape.elements() of
/// deep_element(capacity) in `to` (std::logic_error for another size).
void pack(const DeepImage& image, int capacity, std::span<std::byte> to);

/// The pixel with the most fragments, and how many they are or would be; -1 and 0 of no pixels.
struct Fullest {
    Elements pixel = -1;
    std::int64_t fragments = 0;
};
Fullest fullest(std::span<const std::byte> pixels, int capacity);

/// What deep pixels look like: their fragments blended by `over` from the front, one by one.
/// Requires  room for as many colours in `to` as there are pixels (std::logic_error).
void blend_fragments(std::span<const std::byte> pixels, int capacity, std::span<RgbaF32> to);

} // namespace sextant::kernel
