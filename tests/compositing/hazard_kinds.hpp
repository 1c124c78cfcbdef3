// SPDX-License-Identifier: BSD-3-Clause
// Pixel types with one operator each, for the hazard tests.
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tests/support/blending.hpp"

namespace sextant::compositing {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
struct Over {
    using Pixel = RgbaF32;
    static constexpr ElementFormat element = rgba_f32;
    static constexpr const char* name = "over";
    static constexpr Pixel nothing{};

    /// A pixel that hides everything behind it, with a colour unique to the layer.
    static Pixel opaque(int layer) {
        return {test::unit(static_cast<std::uint64_t>(layer) + 7), static_cast<float>(layer), 0, 1};
    }
    static Pixel some(int layer, Elements i) { return test::pixel(layer, i); }
    static Pixel combine(const Pixel& front, const Pixel& back) {
        return kernel::over(front, back);
    }
    /// True if a value equals the serial fold up to the rounding of another order of association.
    static bool agree(const Pixel& is, const Pixel& serial, int layers) {
        return within(static_cast<float>(layers - 1) * 0x1p-23f, is, serial);
    }
    static bool within(float bound, const Pixel& a, const Pixel& b) {
        return std::abs(a.r - b.r) <= bound && std::abs(a.g - b.g) <= bound &&
               std::abs(a.b - b.b) <= bound && std::abs(a.a - b.a) <= bound;
    }
};

/// Colours far above 1. Behind a nearly opaque image, the visible part of a bright image is small,
/// but has the rounding error of the opacity times the brightness: the bound depends on the images,
/// not on the result.
struct BrightOver : Over {
    static constexpr float brightest = 1000;
    static Pixel some(int layer, Elements i) {
        const Pixel colour = Over::some(layer, i);
        return {brightest * colour.r, 30 * colour.g, colour.b, colour.a};
    }
    static bool agree(const Pixel& is, const Pixel& serial, int layers) {
        return within(brightest * static_cast<float>(layers - 1) * 0x1p-23f, is, serial);
    }
};

/// Each fold rounds once, by at most half a unit in the last place, and images in front can only
/// attenuate the error. So the results of `folds` folds and of the reference differ by at most this
/// number of units in the last place.
constexpr float rounding_units(int folds) {
    return static_cast<float>(folds + 1) / 2;
}

struct OverF16 {
    using Pixel = RgbaF16;
    static constexpr ElementFormat element = rgba_f16;
    static constexpr const char* name = "over";
    static constexpr Pixel nothing{};

    static Pixel opaque(int layer) { return kernel::Wide<Pixel>::narrow(Over::opaque(layer)); }
    static Pixel some(int layer, Elements i) {
        return kernel::Wide<Pixel>::narrow(Over::some(layer, i));
    }
    static RgbaF32 combine(const RgbaF32& front, const RgbaF32& back) {
        return kernel::over(front, back);
    }
    /// Half-precision values below 2 have a unit in the last place of at most 2^-10.
    static bool agree(const Pixel& is, const Pixel& serial, int layers) {
        return Over::within(rounding_units(layers - 1) * 0x1p-10f, kernel::Wide<Pixel>::widen(is),
                            kernel::Wide<Pixel>::widen(serial));
    }
};

struct OverU8 {
    using Pixel = RgbaU8;
    static constexpr ElementFormat element = rgba_u8;
    static constexpr const char* name = "over";
    static constexpr Pixel nothing{};

    static Pixel opaque(int layer) {
        const auto colour = static_cast<std::uint8_t>(layer);
        return {static_cast<std::uint8_t>(255 - colour), colour, 0, 255};
    }
    static Pixel some(int layer, Elements i) {
        const RgbaF32 colour = Over::some(layer, i);
        return kernel::Wide<Pixel>::narrow(
            {255 * colour.r, 255 * colour.g, 255 * colour.b, 255 * colour.a});
    }
    static RgbaF32 combine(const RgbaF32& front, const RgbaF32& back) {
        return kernel::over(front, back, kernel::Wide<Pixel>::opaque);
    }
    static bool agree(const Pixel& is, const Pixel& serial, int layers) {
        return Over::within(rounding_units(layers - 1), kernel::Wide<Pixel>::widen(is),
                            kernel::Wide<Pixel>::widen(serial));
    }
};

struct Nearest {
    using Pixel = RgbaDepthF32;
    static constexpr ElementFormat element = rgba_depth_f32;
    static constexpr const char* name = "nearest";
    static constexpr Pixel nothing{0, 0, 0, 0, infinity};

    /// The same depth for all layers, so that the front one wins.
    static Pixel opaque(int layer) { return {static_cast<float>(layer), 0, 1, 1, 2}; }
    static Pixel some(int layer, Elements i) {
        const RgbaF32 colour = test::pixel(layer, i);
        return {colour.r, colour.g, colour.b, colour.a, std::floor(8 * colour.g)};
    }
    static Pixel combine(const Pixel& front, const Pixel& back) {
        return kernel::nearest(front, back);
    }
    static bool agree(const Pixel& is, const Pixel& serial, int) {
        return std::memcmp(&is, &serial, sizeof is) == 0;
    }
};

} // namespace sextant::compositing
