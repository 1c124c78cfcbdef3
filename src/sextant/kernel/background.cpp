// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/background.hpp"

#include "sextant/kernel/over.hpp"

#include <stdexcept>

namespace sextant::kernel {

namespace {

template <class Pixel, class Blend>
void for_each_pixel(std::span<const std::byte> picture, std::span<std::byte> to, Blend&& blend) {
    const auto* from = reinterpret_cast<const Pixel*>(picture.data());
    auto* result = reinterpret_cast<Pixel*>(to.data());
    for (std::size_t i = 0; i < picture.size() / sizeof(Pixel); ++i)
        result[i] = blend(from[i]);
}

} // namespace

void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to) {
    if (element == rgba_f32) {
        for_each_pixel<RgbaF32>(picture, to,
                                [&](const RgbaF32& pixel) { return over(pixel, background); });
    } else if (element == rgba_depth_f32) {
        for_each_pixel<RgbaDepthF32>(picture, to, [&](const RgbaDepthF32& pixel) {
            const RgbaF32 sum = over({pixel.r, pixel.g, pixel.b, pixel.a}, background);
            return RgbaDepthF32{sum.r, sum.g, sum.b, sum.a, pixel.depth};
        });
    } else {
        throw std::logic_error("a background behind elements that are no colours");
    }
}

} // namespace sextant::kernel
