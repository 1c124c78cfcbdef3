// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>

namespace sextant::kernel {

/// The larger channel. NaN loses to every number, and +0 is larger than -0: whichever comes first.
constexpr float max(float first, float second) {
    if (first == second)
        return first == 0 ? first + second : first; // -0 only where both are
    return second > first || first != first ? second : first;
}

/// The largest of each channel: a projection of maximum intensity.
constexpr RgbaF32 max(const RgbaF32& first, const RgbaF32& second) {
    return {max(first.r, second.r), max(first.g, second.g), max(first.b, second.b),
            max(first.a, second.a)};
}

/// `max` on rgba f32, f16 and u8. What nothing was drawn in is 0, so negative channels of one image
/// alone do not show.
std::span<const Operator> max_operators();

} // namespace sextant::kernel
