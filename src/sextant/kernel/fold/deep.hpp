// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/operator.hpp"

#include <cstdint>
#include <span>

// Deep pixels with a fixed capacity, which schedules move and fold like any other pixel: a count,
// then the fragments, nearest first. The remaining bytes are unspecified.
namespace sextant::kernel {

/// The largest capacity of a pixel, in fragments.
inline constexpr int largest_capacity = 1024;

/// The format of a pixel with room for `capacity` fragments. Throws InvalidTask unless 1 <=
/// capacity <= largest_capacity.
ElementFormat deep_element(int capacity);

/// Merges the fragments of each pixel by depth; at equal depths, fragments of earlier operands come
/// first. The result equals one stable sort, and has the same bits for any order of association.
///
/// A pixel with too many fragments keeps the nearest and counts all, so that `fullest` can detect
/// the loss. The count does not depend on the order of association either.
Operator deep_operator(int capacity);

/// Converts a valid deep image to pixels of fixed capacity. Output: shape.elements() pixels of the
/// format deep_element(capacity) in `to` (std::logic_error for another size).
void pack(const DeepImage& image, int capacity, std::span<std::byte> to);

/// The pixel with the most fragments, and their number, including fragments that were dropped; -1
/// and 0 if there are no pixels.
struct LargestPixel {
    Elements pixel = -1;
    std::int64_t fragments = 0;
};
LargestPixel fullest(std::span<const std::byte> pixels, int capacity);

/// Blends the fragments of each pixel with `over`, starting at the front.
/// Requires  one colour in `to` per pixel (std::logic_error).
void blend_fragments(std::span<const std::byte> pixels, int capacity, std::span<RgbaF32> to);

} // namespace sextant::kernel
