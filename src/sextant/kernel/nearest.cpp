// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/nearest.hpp"

namespace sextant::kernel {

void nearest_rgba_depth_f32(std::span<const std::byte* const> layers, std::byte* to,
                            Elements elements) {
    const auto pixels = [](const std::byte* bytes) {
        return reinterpret_cast<const RgbaDepthF32*>(bytes);
    };
    auto* const result = reinterpret_cast<RgbaDepthF32*>(to);
    for (Elements i = 0; i < elements; ++i) {
        RgbaDepthF32 sum = pixels(layers[0])[i];
        for (std::size_t k = 1; k < layers.size(); ++k)
            sum = nearest(sum, pixels(layers[k])[i]);
        result[i] = sum;
    }
}

} // namespace sextant::kernel
