// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/half.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <string_view>

namespace sextant {

/// Colour premultiplied by opacity `a` (0 transparent, 1 opaque), linear, one float a channel.
struct RgbaF32 {
    float r = 0, g = 0, b = 0, a = 0;
    bool operator==(const RgbaF32&) const = default;
};

/// The same in floats of 16 bits.
struct RgbaF16 {
    Half r, g, b, a;
    bool operator==(const RgbaF16&) const = default;
};

/// The same in steps of 1/255: an opacity of 255 is opaque.
struct RgbaU8 {
    std::uint8_t r = 0, g = 0, b = 0, a = 0;
    bool operator==(const RgbaU8&) const = default;
};

/// A premultiplied colour with its distance from the viewer; nearer is smaller.
struct RgbaDepthF32 {
    float r = 0, g = 0, b = 0, a = 0, depth = 0;
    bool operator==(const RgbaDepthF32&) const = default;
};

/// The same with the colour in steps of 1/255.
struct RgbaU8DepthF32 {
    std::uint8_t r = 0, g = 0, b = 0, a = 0;
    float depth = 0;
    bool operator==(const RgbaU8DepthF32&) const = default;
};

/// What one element of an image or a series is, to those who only move it.
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

/// One measured value a pixel.
inline constexpr ElementFormat gray_f32{"gray f32", 4};
inline constexpr ElementFormat gray_u8{"gray u8", 1};
inline constexpr ElementFormat gray_u16{"gray u16", 2};

/// What its channels are, as users and profiles of machines call it: "f32", "f16" or "u8".
constexpr std::string_view channels(const ElementFormat& element) {
    const bool bytes = element == rgba_u8 || element == rgba_u8_depth_f32 || element == gray_u8;
    return element == gray_u16 ? "u16" : element == rgba_f16 ? "f16" : bytes ? "u8" : "f32";
}

constexpr bool has_depth(const ElementFormat& element) {
    return element == rgba_depth_f32 || element == rgba_u8_depth_f32;
}

} // namespace sextant
