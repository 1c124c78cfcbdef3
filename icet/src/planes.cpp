// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace sextant::icet {

namespace {

constexpr float nothing = std::numeric_limits<float>::infinity();

struct Rgb {
    float r, g, b;
};

/// True if a depth is that of geometry. False for NaN.
bool is_covered(float depth) {
    return depth < 1;
}

RgbaU8DepthF32 with_depth(RgbaU8 color, float depth) {
    if (!is_covered(depth))
        return {0, 0, 0, 0, nothing};
    return {color.r, color.g, color.b, color.a, depth};
}
RgbaDepthF32 with_depth(RgbaF32 color, float depth) {
    if (!is_covered(depth))
        return {0, 0, 0, 0, nothing};
    return {color.r, color.g, color.b, color.a, depth};
}
RgbaDepthF32 with_depth(Rgb color, float depth) {
    return with_depth(RgbaF32{color.r, color.g, color.b, 1}, depth);
}

/// Calls `body` with each row of a part of the planes: the first pixel in the planes, and the first
/// one in the image.
template <class Body>
void each_row(const Pixels& planes, const Viewport& part, IceTInt x, IceTInt y, Elements width,
              Body&& body) {
    for (IceTInt row = 0; row < part[3]; ++row)
        body(Elements{part[1] + row} * planes.width + part[0], Elements{y + row} * width + x);
}

template <class Color, class Pixel>
void pack_with_depth(const Pixels& planes, const Viewport& part, Pixel* image, IceTInt x, IceTInt y,
                     Elements width) {
    const auto* colors = reinterpret_cast<const Color*>(planes.color.data());
    const auto* depths = reinterpret_cast<const float*>(planes.depth.data());
    const bool has_color = planes.color_format != ICET_IMAGE_COLOR_NONE;
    each_row(planes, part, x, y, width, [&](Elements from, Elements to) {
        for (Elements i = 0; i < part[2]; ++i)
            image[to + i] = with_depth(has_color ? colors[from + i] : Color{}, depths[from + i]);
    });
}

template <class Color>
Color color_of(const std::array<IceTFloat, 4>& color);
template <>
RgbaU8 color_of(const std::array<IceTFloat, 4>& color) {
    return std::bit_cast<RgbaU8>(word_of(color));
}
template <>
RgbaF32 color_of(const std::array<IceTFloat, 4>& color) {
    return {color[0], color[1], color[2], color[3]};
}
template <>
Rgb color_of(const std::array<IceTFloat, 4>& color) {
    return {color[0], color[1], color[2]};
}

RgbaU8 color_in(const RgbaU8DepthF32& pixel, RgbaU8) {
    return {pixel.r, pixel.g, pixel.b, pixel.a};
}
RgbaF32 color_in(const RgbaDepthF32& pixel, RgbaF32) {
    return {pixel.r, pixel.g, pixel.b, pixel.a};
}
Rgb color_in(const RgbaDepthF32& pixel, Rgb) {
    return {pixel.r, pixel.g, pixel.b};
}

template <class Color, class Pixel>
void unpack_with_depth(std::span<const std::byte> bytes, const Background& background,
                       Elements first, Pixels& planes) {
    const auto* pixels = reinterpret_cast<const Pixel*>(bytes.data());
    const auto count = static_cast<Elements>(bytes.size() / sizeof(Pixel));
    auto* const colors = reinterpret_cast<Color*>(planes.color.data()) + first;
    auto* const depths = reinterpret_cast<float*>(planes.depth.data()) + first;
    const Color empty = color_of<Color>(background.color);
    if (planes.color_format != ICET_IMAGE_COLOR_NONE) {
        for (Elements i = 0; i < count; ++i)
            colors[i] = is_covered(pixels[i].depth) ? color_in(pixels[i], Color{}) : empty;
    }
    if (planes.depth_format != ICET_IMAGE_DEPTH_NONE) {
        for (Elements i = 0; i < count; ++i)
            depths[i] = std::min(pixels[i].depth, 1.F);
    }
}

/// a · b / 255, rounded to nearest.
std::uint8_t scaled(unsigned a, unsigned b) {
    const unsigned product = a * b + 128;
    return static_cast<std::uint8_t>((product + (product >> 8)) >> 8);
}

RgbaU8 over(RgbaU8 front, RgbaU8 back) {
    const unsigned through = 255U - front.a;
    const auto sum = [&](unsigned f, unsigned b) {
        return static_cast<std::uint8_t>(std::min(255U, f + scaled(b, through)));
    };
    return {sum(front.r, back.r), sum(front.g, back.g), sum(front.b, back.b), sum(front.a, back.a)};
}
RgbaF32 over(RgbaF32 front, RgbaF32 back) {
    const float through = 1 - front.a;
    return {front.r + through * back.r, front.g + through * back.g, front.b + through * back.b,
            front.a + through * back.a};
}

template <class Color>
void unpack_blended(std::span<const std::byte> bytes, const Background& background, Elements first,
                    Pixels& planes) {
    const auto* pixels = reinterpret_cast<const Color*>(bytes.data());
    const auto count = static_cast<Elements>(bytes.size() / sizeof(Color));
    auto* const colors = reinterpret_cast<Color*>(planes.color.data()) + first;
    const Color behind = color_of<Color>(background.color);
    for (Elements i = 0; i < count; ++i)
        colors[i] = pixels[i].a == 0   ? behind
                    : background.blend ? over(pixels[i], behind)
                                       : pixels[i];
}

} // namespace

std::uint32_t word_of(const std::array<IceTFloat, 4>& color) {
    std::array<std::uint8_t, 4> bytes;
    std::ranges::transform(color, bytes.begin(), [](IceTFloat channel) {
        return static_cast<std::uint8_t>(std::clamp(channel, 0.F, 1.F) * 255);
    });
    return std::bit_cast<std::uint32_t>(bytes);
}

Composition composition_of(IceTEnum color_format, IceTEnum depth_format, IceTEnum mode) {
    const bool has_depth = depth_format != ICET_IMAGE_DEPTH_NONE;
    if (mode == ICET_COMPOSITE_MODE_Z_BUFFER) {
        if (!has_depth)
            throw Raised(ICET_INVALID_OPERATION,
                         "ICET_COMPOSITE_MODE_Z_BUFFER needs depths: call icetSetDepthFormat");
        const bool bytes =
            color_format == ICET_IMAGE_COLOR_RGBA_UBYTE || color_format == ICET_IMAGE_COLOR_NONE;
        return {"nearest", bytes ? rgba_u8_depth_f32 : rgba_depth_f32};
    }
    if (color_format == ICET_IMAGE_COLOR_RGBA_UBYTE)
        return {"over", rgba_u8};
    if (color_format == ICET_IMAGE_COLOR_RGBA_FLOAT)
        return {"over", rgba_f32};
    throw Raised(ICET_INVALID_OPERATION,
                 "ICET_COMPOSITE_MODE_BLEND needs colors with alpha: call icetSetColorFormat");
}

void pack(const Pixels& planes, const Viewport& part, const Composition& composition,
          std::byte* image, IceTInt x, IceTInt y, Elements width) {
    if (composition.element == rgba_u8_depth_f32) {
        pack_with_depth<RgbaU8>(planes, part, reinterpret_cast<RgbaU8DepthF32*>(image), x, y,
                                width);
    } else if (composition.element == rgba_depth_f32) {
        auto* const pixels = reinterpret_cast<RgbaDepthF32*>(image);
        if (planes.color_format == ICET_IMAGE_COLOR_RGB_FLOAT)
            pack_with_depth<Rgb>(planes, part, pixels, x, y, width);
        else
            pack_with_depth<RgbaF32>(planes, part, pixels, x, y, width);
    } else {
        const Bytes size = composition.element.size;
        each_row(planes, part, x, y, width, [&](Elements from, Elements to) {
            std::memcpy(image + to * size, planes.color.data() + from * size,
                        static_cast<std::size_t>(part[2] * size));
        });
    }
}

void unpack(std::span<const std::byte> pixels, const Composition& composition,
            const Background& background, Elements first, Pixels& planes) {
    if (composition.element == rgba_u8_depth_f32)
        unpack_with_depth<RgbaU8, RgbaU8DepthF32>(pixels, background, first, planes);
    else if (composition.element == rgba_u8)
        unpack_blended<RgbaU8>(pixels, background, first, planes);
    else if (composition.element == rgba_f32)
        unpack_blended<RgbaF32>(pixels, background, first, planes);
    else if (planes.color_format == ICET_IMAGE_COLOR_RGB_FLOAT)
        unpack_with_depth<Rgb, RgbaDepthF32>(pixels, background, first, planes);
    else
        unpack_with_depth<RgbaF32, RgbaDepthF32>(pixels, background, first, planes);
}

} // namespace sextant::icet
