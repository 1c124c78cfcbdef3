// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// The nearer of two opaque samples. Of equally near ones the earlier operand wins; a depth that is
/// not a number loses to every other.
constexpr const RgbaDepthF32& nearest(const RgbaDepthF32& first, const RgbaDepthF32& second) {
    const bool first_is_nan = first.depth != first.depth;
    const bool second_is_nan = second.depth != second.depth;
    const bool second_wins = second.depth < first.depth || (first_is_nan && !second_is_nan);
    return second_wins ? second : first;
}

/// Keeps the nearest of all layers, in one pass (Operator::fold).
void nearest_rgba_depth_f32(std::span<const std::byte* const> layers, std::byte* to,
                            Elements elements);

} // namespace sextant::kernel
