// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <cstdint>
#include <limits>

namespace sextant::kernel {

/// A pixel format as folds see it. Operands widen to floats, exactly, are combined in floats, one
/// operation after another, and the sum is narrowed once, at the end of the fold:
///
/// f32   as it is; whatever is not a number becomes the one quiet NaN 0x7fc00000, since which of
///       two NaN comes out of a sum differs between processors
/// f16   rounded to the nearest, of two equally near ones to the even; NaN becomes 0x7e00
/// u8    computed in steps of 1/255; clamped to [0, 255], rounded likewise
///
/// For two pixels in u8, `over` is the exact quotient by 255, rounded: no sum lies near a tie.
template <class Pixel>
struct Wide;

constexpr float one_nan(float channel) {
    return channel == channel ? channel : std::numeric_limits<float>::quiet_NaN();
}

/// What is not a number is 0.
constexpr std::uint8_t nearest_step(float channel) {
    constexpr float whole = 0x1.8p23f; // floats beside it have no fraction: adding it rounds
    if (!(channel > 0))
        return 0;
    return channel >= 255 ? 255 : static_cast<std::uint8_t>((channel + whole) - whole);
}

template <>
struct Wide<RgbaF32> {
    static constexpr float opaque = 1; ///< what full opacity is in the units of the sum
    static constexpr RgbaF32 widen(const RgbaF32& pixel) { return pixel; }
    static constexpr RgbaF32 narrow(const RgbaF32& sum) {
        return {one_nan(sum.r), one_nan(sum.g), one_nan(sum.b), one_nan(sum.a)};
    }
};

template <>
struct Wide<RgbaF16> {
    static constexpr float opaque = 1;
    static constexpr RgbaF32 widen(const RgbaF16& pixel) {
        return {to_float(pixel.r), to_float(pixel.g), to_float(pixel.b), to_float(pixel.a)};
    }
    static constexpr RgbaF16 narrow(const RgbaF32& sum) {
        return {to_half(sum.r), to_half(sum.g), to_half(sum.b), to_half(sum.a)};
    }
};

template <>
struct Wide<RgbaU8> {
    static constexpr float opaque = 255;
    static constexpr RgbaF32 widen(const RgbaU8& pixel) {
        return {static_cast<float>(pixel.r), static_cast<float>(pixel.g),
                static_cast<float>(pixel.b), static_cast<float>(pixel.a)};
    }
    static constexpr RgbaU8 narrow(const RgbaF32& sum) {
        return {nearest_step(sum.r), nearest_step(sum.g), nearest_step(sum.b), nearest_step(sum.a)};
    }
};

/// Depth is chosen, not computed: pixels stay as they are.
template <class Pixel>
struct Chosen {
    static constexpr const Pixel& widen(const Pixel& pixel) { return pixel; }
    static constexpr const Pixel& narrow(const Pixel& sum) { return sum; }
};
template <>
struct Wide<RgbaDepthF32> : Chosen<RgbaDepthF32> {};
template <>
struct Wide<RgbaU8DepthF32> : Chosen<RgbaU8DepthF32> {};

} // namespace sextant::kernel
