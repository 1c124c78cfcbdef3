// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstdint>

namespace sextant::registration {

/// A rectangle of pixels. Its first pixel may lie outside the image whose coordinates it has.
struct PixelArea {
    std::int64_t x = 0, y = 0; ///< its first column and row
    ImageShape shape;
    bool operator==(const PixelArea&) const = default;
};

/// Returns the area of a whole image.
inline PixelArea area_of(ImageShape image) {
    return {0, 0, image};
}

/// True if an area contains another one.
bool contains(const PixelArea& area, const PixelArea& part);

/// Returns the pixels that both areas have; of zero size if there are none.
PixelArea common_area(const PixelArea& one, const PixelArea& other);

/// Returns the smallest area that contains both. An area of zero size contains nothing.
PixelArea enclosing_area(const PixelArea& one, const PixelArea& other);

} // namespace sextant::registration
