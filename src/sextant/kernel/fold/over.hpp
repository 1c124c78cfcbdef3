// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>

namespace sextant::kernel {

/// Porter and Duff's `over` on premultiplied colour: what is seen of `back` behind `front`, where
/// `opaque` is what full opacity is written as.
/// Source    Porter and Duff, SIGGRAPH 1984, doi:10.1145/800031.808606
constexpr RgbaF32 over(const RgbaF32& front, const RgbaF32& back, float opaque = 1) {
    const float through = (opaque - front.a) * (1 / opaque);
    return {front.r + through * back.r, front.g + through * back.g, front.b + through * back.b,
            front.a + through * back.a};
}

/// `over` on rgba f32, f16 and u8: folds from the front. wide.hpp says what is rounded when.
std::span<const Operator> over_operators();

} // namespace sextant::kernel
