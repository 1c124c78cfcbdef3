// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/over.hpp"

#include <algorithm>

namespace sextant::kernel {

namespace {

constexpr Elements slice = 1024; // a slice of the sum stays in the first-level cache

/// sum[i] = front[i] over back[i]; `sum` may be either.
void over_two(const RgbaF32* front, const RgbaF32* back, RgbaF32* sum, Elements elements) {
    for (Elements i = 0; i < elements; ++i)
        sum[i] = over(front[i], back[i]);
}

} // namespace

void over_rgba_f32(std::span<const std::byte* const> layers, std::byte* to, Elements elements) {
    const auto pixels = [](const std::byte* bytes) {
        return reinterpret_cast<const RgbaF32*>(bytes);
    };
    auto* const result = reinterpret_cast<RgbaF32*>(to);
    if (layers.size() == 1) {
        if (pixels(layers[0]) != result)
            std::copy_n(pixels(layers[0]), elements, result);
        return;
    }
    if (layers.size() == 2)
        return over_two(pixels(layers[0]), pixels(layers[1]), result, elements);
    RgbaF32 sum[slice]; // `to` may be one of the later layers
    for (Elements first = 0; first < elements; first += slice) {
        const Elements count = std::min(slice, elements - first);
        over_two(pixels(layers[0]) + first, pixels(layers[1]) + first, sum, count);
        for (std::size_t k = 2; k + 1 < layers.size(); ++k) {
            over_two(sum, pixels(layers[k]) + first, sum, count);
        }
        over_two(sum, pixels(layers.back()) + first, result + first, count);
    }
}

} // namespace sextant::kernel
