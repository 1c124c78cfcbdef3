// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>

namespace sextant::kernel {

/// The sum of light, channel by channel; opacity adds up likewise.
constexpr RgbaF32 add(const RgbaF32& first, const RgbaF32& second) {
    return {first.r + second.r, first.g + second.g, first.b + second.b, first.a + second.a};
}

/// `add` on rgba f32, f16 and u8, where it saturates at 255. wide.hpp says what is rounded when.
std::span<const Operator> add_operators();

} // namespace sextant::kernel
