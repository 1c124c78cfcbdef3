// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <bit>
#include <cstdint>
#include <string_view>

namespace sextant {

/// An IEEE 754 binary16 number: 11 significant bits, 65504 at most.
struct Half {
    std::uint16_t bits = 0;
    bool operator==(const Half&) const = default; ///< compares bits
};

/// Converts a half to a float. The conversion is exact.
constexpr float to_float(Half half) {
    const std::uint32_t sign = (half.bits & 0x8000u) << 16;
    const std::uint32_t magnitude = half.bits & 0x7fffu;
    if (magnitude < 0x0400) { // zero or subnormal: a multiple of 2^-24
        const float steps = static_cast<float>(magnitude) * 0x1p-24f;
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(steps));
    }
    const std::uint32_t exponent = magnitude < 0x7c00 ? 127 - 15 : 255 - 31; // else infinity or NaN
    return std::bit_cast<float>(sign | ((exponent << 23) + (magnitude << 13)));
}

/// The nearest half, ties to even. Values that are too large become infinite; NaN becomes 0x7e00.
constexpr Half to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) { // NaN
        return {0x7e00};
    } else if (magnitude >= 0x47800000u) { // 2^16 and more
        half = 0x7c00;
    } else if (magnitude < 0x38800000u) { // below 2^-14: steps of 2^-24, as for floats in [0.5, 1)
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    } else { // rounding may carry into the exponent, up to infinity
        half = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | half)};
}

/// Colour premultiplied by opacity `a` (0 transparent, 1 opaque), linear, one float per channel.
struct RgbaF32 {
    float r = 0, g = 0, b = 0, a = 0;
    bool operator==(const RgbaF32&) const = default;
};

/// A premultiplied colour of 16-bit floats.
struct RgbaF16 {
    Half r, g, b, a;
    bool operator==(const RgbaF16&) const = default;
};

/// A premultiplied colour in steps of 1/255; an opacity of 255 is opaque.
struct RgbaU8 {
    std::uint8_t r = 0, g = 0, b = 0, a = 0;
    bool operator==(const RgbaU8&) const = default;
};

/// A premultiplied colour with its distance from the viewer.
struct RgbaDepthF32 {
    float r = 0, g = 0, b = 0, a = 0, depth = 0;
    bool operator==(const RgbaDepthF32&) const = default;
};

/// A premultiplied colour in steps of 1/255, with its distance from the viewer.
struct RgbaU8DepthF32 {
    std::uint8_t r = 0, g = 0, b = 0, a = 0;
    float depth = 0;
    bool operator==(const RgbaU8DepthF32&) const = default;
};

/// The name and the size in bytes of an element, for code that only moves elements.
struct ElementFormat {
    std::string_view name;
    Bytes size = 0;
    bool operator==(const ElementFormat&) const = default;
};

inline constexpr ElementFormat rgba_f32{"rgba f32", sizeof(RgbaF32)};
inline constexpr ElementFormat rgba_f16{"rgba f16", sizeof(RgbaF16)};
inline constexpr ElementFormat rgba_u8{"rgba u8", sizeof(RgbaU8)};
inline constexpr ElementFormat rgba_depth_f32{"rgba+depth f32", sizeof(RgbaDepthF32)};
inline constexpr ElementFormat rgba_u8_depth_f32{"rgba u8+depth f32", sizeof(RgbaU8DepthF32)};

/// One measured value per pixel.
inline constexpr ElementFormat gray_f32{"gray f32", 4};
inline constexpr ElementFormat gray_u8{"gray u8", 1};
inline constexpr ElementFormat gray_u16{"gray u16", 2};

/// The channel type, as named in options and machine profiles: "f32", "f16", "u8" or "u16".
constexpr std::string_view channels(const ElementFormat& element) {
    const bool bytes = element == rgba_u8 || element == rgba_u8_depth_f32 || element == gray_u8;
    return element == gray_u16 ? "u16" : element == rgba_f16 ? "f16" : bytes ? "u8" : "f32";
}

constexpr bool has_depth(const ElementFormat& element) {
    return element == rgba_depth_f32 || element == rgba_u8_depth_f32;
}

} // namespace sextant
