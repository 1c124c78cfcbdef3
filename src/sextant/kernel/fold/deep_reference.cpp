// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/deep_reference.hpp"

#include "sextant/kernel/fold/over.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant::kernel {

std::vector<RgbaF32> blend_sorted(std::span<const DeepImage> images) {
    for (const DeepImage& image : images) {
        if (image.shape != images[0].shape)
            throw std::logic_error("deep images of several shapes");
    }
    std::vector<RgbaF32> picture;
    for (Elements pixel = 0; pixel < images[0].shape.elements(); ++pixel) {
        std::vector<Fragment> all;
        for (const DeepImage& image : images)
            all.insert(all.end(), image.at(pixel).begin(), image.at(pixel).end());
        std::stable_sort(all.begin(), all.end(),
                         [](const Fragment& a, const Fragment& b) { return a.depth < b.depth; });
        RgbaF32 sum;
        for (const Fragment& next : all)
            sum = over(sum, {next.r, next.g, next.b, next.a});
        picture.push_back(sum);
    }
    return picture;
}

} // namespace sextant::kernel
