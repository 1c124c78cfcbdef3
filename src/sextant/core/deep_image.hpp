// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// One of the things that a pixel shows, at its depth: a premultiplied colour.
using Fragment = RgbaDepthF32;

/// What headers of files say of deep pixels, whose sizes vary.
inline constexpr ElementFormat deep_f32{"deep rgba+depth f32", sizeof(Fragment)};

constexpr bool is_deep(const ElementFormat& element) {
    return element.name == deep_f32.name;
}

/// An image that is not blended yet: any number of fragments a pixel, those of a pixel nearest
/// first, row 0 on top. Depths may be equal, and infinite, but not NaN.
struct DeepImage {
    ImageShape shape;
    std::vector<Elements> first;     ///< by pixel: where its fragments begin; and where all end
    std::vector<Fragment> fragments; ///< pixel by pixel

    std::span<const Fragment> at(Elements pixel) const {
        const auto p = static_cast<std::size_t>(pixel);
        return std::span(fragments).subspan(static_cast<std::size_t>(first[p]),
                                            static_cast<std::size_t>(first[p + 1] - first[p]));
    }
};

/// The image of that shape without a fragment.
DeepImage empty_deep_image(ImageShape shape);

/// What is wrong with an image, with pixel and value, for whoever knows what to call the image;
/// empty where nothing is.
/// Cost      one pass.
std::string fault_of(const DeepImage& image);

} // namespace sextant
