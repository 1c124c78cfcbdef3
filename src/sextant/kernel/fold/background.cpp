// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/background.hpp"

#include "sextant/kernel/fold/over.hpp"
#include "sextant/kernel/fold/pixel_type.hpp"
#include "sextant/kernel/fold/wide.hpp"

namespace sextant::kernel {

namespace {

/// `background` is in the units of the format.
template <class Pixel>
Pixel behind(const Pixel& pixel, const RgbaF32& background) {
    return Wide<Pixel>::narrow(over(Wide<Pixel>::widen(pixel), background, Wide<Pixel>::opaque));
}

RgbaDepthF32 behind(const RgbaDepthF32& pixel, const RgbaF32& background) {
    const RgbaF32 sum = behind(RgbaF32{pixel.r, pixel.g, pixel.b, pixel.a}, background);
    return {sum.r, sum.g, sum.b, sum.a, pixel.depth};
}

RgbaU8DepthF32 behind(const RgbaU8DepthF32& pixel, const RgbaF32& background) {
    const RgbaU8 sum = behind(RgbaU8{pixel.r, pixel.g, pixel.b, pixel.a}, background);
    return {sum.r, sum.g, sum.b, sum.a, pixel.depth};
}

} // namespace

void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to) {
    const bool levels = element == rgba_u8 || element == rgba_u8_depth_f32;
    const float unit = levels ? Wide<RgbaU8>::opaque : 1;
    const RgbaF32 scaled{unit * background.r, unit * background.g, unit * background.b,
                         unit * background.a};
    with_pixel_type(element, [&]<class Pixel>(Pixel) {
        const auto* from = reinterpret_cast<const Pixel*>(picture.data());
        auto* const result = reinterpret_cast<Pixel*>(to.data());
        for (std::size_t i = 0; i < picture.size() / sizeof(Pixel); ++i)
            result[i] = behind(from[i], scaled);
    });
}

} // namespace sextant::kernel
