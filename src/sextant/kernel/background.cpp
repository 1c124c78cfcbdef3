// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/background.hpp"

#include "sextant/kernel/over.hpp"
#include "sextant/kernel/wide.hpp"

#include <stdexcept>

namespace sextant::kernel {

namespace {

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

template <class Pixel>
void put_behind_each(std::span<const std::byte> picture, const RgbaF32& background,
                     std::span<std::byte> to) {
    const auto* from = reinterpret_cast<const Pixel*>(picture.data());
    auto* result = reinterpret_cast<Pixel*>(to.data());
    for (std::size_t i = 0; i < picture.size() / sizeof(Pixel); ++i)
        result[i] = behind(from[i], background);
}

RgbaF32 in_steps(const RgbaF32& colour) {
    return {255 * colour.r, 255 * colour.g, 255 * colour.b, 255 * colour.a};
}

} // namespace

void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to) {
    if (element == rgba_f32)
        put_behind_each<RgbaF32>(picture, background, to);
    else if (element == rgba_f16)
        put_behind_each<RgbaF16>(picture, background, to);
    else if (element == rgba_u8)
        put_behind_each<RgbaU8>(picture, in_steps(background), to);
    else if (element == rgba_depth_f32)
        put_behind_each<RgbaDepthF32>(picture, background, to);
    else if (element == rgba_u8_depth_f32)
        put_behind_each<RgbaU8DepthF32>(picture, in_steps(background), to);
    else
        throw std::logic_error("a background behind elements that are no colours");
}

} // namespace sextant::kernel
