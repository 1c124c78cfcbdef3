// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// Porter and Duff's `over` on premultiplied colour: what is seen of `back` behind `front`.
constexpr RgbaF32 over(const RgbaF32& front, const RgbaF32& back) {
    const float through = 1.0f - front.a;
    return {front.r + through * back.r, front.g + through * back.g, front.b + through * back.b,
            front.a + through * back.a};
}

/// Folds layers front to back with `over`, from the front, in one pass (Operator::fold).
/// Source    Porter and Duff, SIGGRAPH 1984, doi:10.1145/800031.808606
void over_rgba_f32(std::span<const std::byte* const> layers, std::byte* to, Elements elements);

} // namespace sextant::kernel
