// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

namespace sextant {

/// The most pixels of an image, or of all images of a rank together: what is reckoned from them
/// stays far from the largest number.
inline constexpr Elements most_pixels = Elements{1} << 34;

/// Whether an image, or so many of them, has more. Requires  nothing negative.
constexpr bool is_too_large(const ImageShape& shape, Elements images = 1) {
    return shape.width > 0 && shape.height > 0 && images > 0 &&
           (shape.width > most_pixels / shape.height ||
            images > most_pixels / (shape.width * shape.height));
}

} // namespace sextant
