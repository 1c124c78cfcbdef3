// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::kernel {

/// The sum of light, channel by channel; opacity adds up likewise.
constexpr RgbaF32 add(const RgbaF32& first, const RgbaF32& second) {
    return {first.r + second.r, first.g + second.g, first.b + second.b, first.a + second.a};
}

/// `add` on rgba f32, f16 and u8, where it saturates at 255. wide.hpp says what is rounded when.
std::span<const Operator> add_operators();

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

/// An operator in each element format that it has: one file of code and one row.
struct Family {
    std::string_view name, summary;
    bool commutative = false;
    std::span<const Operator> operators; ///< the first is the one that is usual
};

/// The operators that blend images.
std::span<const Family> catalogue();

/// "rgba f32, rgba f16": what an operator is for.
std::string formats_of(const Family& family);

/// By name. Throws InvalidTask with near names.
const Family& find_family(std::string_view name);

/// By name and element format. Throws InvalidTask with near names, or the formats it has.
const Operator& find(std::string_view name, const ElementFormat& element = rgba_f32);

} // namespace sextant::kernel
