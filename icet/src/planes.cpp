// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "plane_vectors.hpp"

namespace sextant::icet {

namespace {

constexpr float nothing = std::numeric_limits<float>::infinity();

struct Rgb {
    float r, g, b;
};

/// True if a depth belongs to geometry, not to the empty background. False for NaN.
bool is_covered(float depth) {
    return depth < 1;
}

RgbaDepthF32 with_depth(RgbaF32 color, float depth) {
    if (!is_covered(depth))
        return {0, 0, 0, 0, nothing};
    return {color.r, color.g, color.b, color.a, depth};
}
RgbaDepthF32 with_depth(Rgb color, float depth) {
    return with_depth(RgbaF32{color.r, color.g, color.b, 1}, depth);
}

/// Calls `body` with each row of a part of the planes: the indices of its first pixel in the planes
/// and in the image.
template <class Body>
void each_row(const Pixels& planes, const Viewport& part, IceTInt x, IceTInt y, Elements width,
              Body&& body) {
    for (IceTInt row = 0; row < part[3]; ++row)
        body(Elements{part[1] + row} * planes.width + part[0], Elements{y + row} * width + x);
}

template <class Color>
void pack_with_depth(const Pixels& planes, const Viewport& part, RgbaDepthF32* image, IceTInt x,
                     IceTInt y, Elements width) {
    const auto* colors = reinterpret_cast<const Color*>(planes.color.data());
    const auto* depths = reinterpret_cast<const float*>(planes.depth.data());
    each_row(planes, part, x, y, width, [&](Elements from, Elements to) {
        for (Elements i = 0; i < part[2]; ++i)
            image[to + i] = with_depth(colors[from + i], depths[from + i]);
    });
}

void unpack_floats(std::span<const std::byte> bytes, const std::array<IceTFloat, 4>& background,
                   Elements first, Pixels& planes) {
    const auto* pixels = reinterpret_cast<const RgbaDepthF32*>(bytes.data());
    const std::size_t count = bytes.size() / sizeof(RgbaDepthF32);
    const std::size_t channels = planes.color_format == ICET_IMAGE_COLOR_RGB_FLOAT ? 3 : 4;
    auto* color =
        reinterpret_cast<float*>(planes.color.data()) + static_cast<std::size_t>(first) * channels;
    for (std::size_t i = 0; i < count; ++i, color += channels) {
        const RgbaDepthF32& pixel = pixels[i];
        const std::array<float, 4> own = {pixel.r, pixel.g, pixel.b, pixel.a};
        const std::array<float, 4>& shown = is_covered(pixel.depth) ? own : background;
        std::copy_n(shown.begin(), channels, color);
    }
    if (planes.depth_format == ICET_IMAGE_DEPTH_NONE)
        return;
    auto* const depths = reinterpret_cast<float*>(planes.depth.data()) + first;
    for (std::size_t i = 0; i < count; ++i)
        depths[i] = std::min(pixels[i].depth, 1.F);
}

void unpack_blended(std::span<const std::byte> pixels, const Operator& blend,
                    const std::array<IceTFloat, 4>& background, Elements first, Pixels& planes) {
    const Bytes size = blend.element.size;
    std::byte* const to = planes.color.data() + first * size;
    const std::uint32_t word = word_of(background);
    if (is_clear(background, planes.color_format)) { // the background changes nothing
        std::memcpy(to, pixels.data(), pixels.size());
        return;
    }
    constexpr Elements part = 4096;
    std::vector<std::byte> behind(static_cast<std::size_t>(part * size));
    for (Elements i = 0; i < part; ++i)
        std::memcpy(behind.data() + i * size,
                    size == 4 ? static_cast<const void*>(&word) : background.data(),
                    static_cast<std::size_t>(size));
    const auto count = static_cast<Elements>(pixels.size()) / size;
    for (Elements i = 0; i < count; i += part) {
        const std::byte* const sources[] = {pixels.data() + i * size, behind.data()};
        blend.fold(sources, to + i * size, std::min(part, count - i), count);
    }
}

} // namespace

std::uint32_t word_of(const std::array<IceTFloat, 4>& color) {
    std::array<std::uint8_t, 4> bytes;
    std::ranges::transform(color, bytes.begin(), [](IceTFloat channel) {
        return static_cast<std::uint8_t>(std::clamp(channel, 0.F, 1.F) * 255);
    });
    return std::bit_cast<std::uint32_t>(bytes);
}

bool is_clear(const std::array<IceTFloat, 4>& color, IceTEnum format) {
    if (format == ICET_IMAGE_COLOR_RGBA_UBYTE)
        return word_of(color) == 0;
    return std::ranges::all_of(color, [](IceTFloat channel) { return channel == 0; });
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
        const auto* depths = reinterpret_cast<const float*>(planes.depth.data());
        const bool has_color = planes.color_format != ICET_IMAGE_COLOR_NONE;
        const auto* colors = reinterpret_cast<const std::uint32_t*>(
            has_color ? planes.color.data() : planes.depth.data());
        auto* const pixels = reinterpret_cast<RgbaU8DepthF32*>(image);
        each_row(planes, part, x, y, width, [&](Elements from, Elements to) {
            interleave(colors + from, depths + from, part[2], pixels + to);
        });
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
            const Operator& blend, const std::array<IceTFloat, 4>& background, Elements first,
            Pixels& planes) {
    if (composition.element == rgba_u8_depth_f32) {
        const auto count = static_cast<Elements>(pixels.size()) / composition.element.size;
        const bool has_color = planes.color_format != ICET_IMAGE_COLOR_NONE;
        const bool has_depth = planes.depth_format != ICET_IMAGE_DEPTH_NONE;
        auto* const depths =
            has_depth ? reinterpret_cast<float*>(planes.depth.data()) + first : nullptr;
        std::vector<std::uint32_t> unused;
        if (!has_color)
            unused.resize(static_cast<std::size_t>(count));
        deinterleave(reinterpret_cast<const RgbaU8DepthF32*>(pixels.data()), count,
                     word_of(background),
                     has_color ? reinterpret_cast<std::uint32_t*>(planes.color.data()) + first
                               : unused.data(),
                     depths);
    } else if (composition.element == rgba_depth_f32) {
        unpack_floats(pixels, background, first, planes);
    } else {
        unpack_blended(pixels, blend, background, first, planes);
    }
}

} // namespace sextant::icet
