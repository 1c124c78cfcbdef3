// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::kernel {

/// Adds colour and opacity, channel by channel.
constexpr RgbaF32 add(const RgbaF32& first, const RgbaF32& second) {
    return {first.r + second.r, first.g + second.g, first.b + second.b, first.a + second.a};
}

/// `add` on rgba f32, f16 and u8; u8 sums saturate at 255. For rounding see pixel_fold.hpp.
std::span<const Operator> add_operators();

/// The larger of two channel values. In either order, a number wins over NaN and +0 over -0.
constexpr float max(float first, float second) {
    if (first == second)
        return first == 0 ? first + second : first; // -0 only if both are -0
    return second > first || first != first ? second : first;
}

/// The largest value of each channel: maximum intensity projection.
constexpr RgbaF32 max(const RgbaF32& first, const RgbaF32& second) {
    return {max(first.r, second.r), max(first.g, second.g), max(first.b, second.b),
            max(first.a, second.a)};
}

/// `max` on rgba f32, f16 and u8. Empty pixels are 0, so a negative channel of one image is lost
/// where another image is empty.
std::span<const Operator> max_operators();

/// The nearer of two samples. If they are equally near, a transparent one loses, so that an empty
/// pixel, infinitely far away, does not hide an active one; otherwise the first wins. A NaN depth
/// loses to every number.
template <class Pixel>
constexpr const Pixel& nearest(const Pixel& first, const Pixel& second) {
    const bool nearer = second.depth < first.depth;
    const bool better = second.depth == first.depth && first.a == 0 && second.a != 0;
    const bool first_lost = first.depth != first.depth && second.depth == second.depth;
    return nearer || better || first_lost ? second : first;
}

/// `nearest` on rgba+depth f32 and rgba u8+depth f32; returns the winner's bits unchanged.
std::span<const Operator> nearest_operators();

/// Porter and Duff's `over` on premultiplied colour: `front` plus the visible part of `back`.
/// `opaque` is the value of full opacity.
/// Source    Porter and Duff, SIGGRAPH 1984, doi:10.1145/800031.808606
constexpr RgbaF32 over(const RgbaF32& front, const RgbaF32& back, float opaque = 1) {
    const float through = (opaque - front.a) * (1 / opaque);
    return {front.r + through * back.r, front.g + through * back.g, front.b + through * back.b,
            front.a + through * back.a};
}

/// `over` on rgba f32, f16 and u8; folds start at the front. For rounding see pixel_fold.hpp.
std::span<const Operator> over_operators();

/// An operator in each element format that it supports: one source file and one catalogue entry.
struct Family {
    std::string_view name, summary;
    bool commutative = false;
    std::span<const Operator> operators; ///< the default format first
};

/// The operators that blend images.
std::span<const Family> catalogue();

/// The element formats of an operator: "rgba f32, rgba f16".
std::string formats_of(const Family& family);

/// Finds an operator by name. Throws InvalidTask with similar names.
const Family& find_family(std::string_view name);

/// Finds an operator by name and element format. Throws InvalidTask with similar names, or with the
/// formats that the operator supports.
const Operator& find(std::string_view name, const ElementFormat& element = rgba_f32);

} // namespace sextant::kernel
