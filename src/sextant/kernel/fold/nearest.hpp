// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>

namespace sextant::kernel {

/// The nearer of two samples. Of equally near ones a transparent one loses, so that where nothing
/// was drawn, infinitely far, does not hide what was; else the earlier operand wins. A depth that
/// is not a number loses to every other.
template <class Pixel>
constexpr const Pixel& nearest(const Pixel& first, const Pixel& second) {
    const bool nearer = second.depth < first.depth;
    const bool better = second.depth == first.depth && first.a == 0 && second.a != 0;
    const bool first_lost = first.depth != first.depth && second.depth == second.depth;
    return nearer || better || first_lost ? second : first;
}

/// `nearest` on rgba+depth f32 and on rgba u8+depth f32; the bits of the winner, unchanged.
std::span<const Operator> nearest_operators();

} // namespace sextant::kernel
