// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/check.hpp"

#include <cmath>
#include <stdexcept>

namespace sextant::format {

namespace {

template <class Pixel>
bool has_nan(const Pixel& pixel) {
    return std::isnan(pixel.r) || std::isnan(pixel.g) || std::isnan(pixel.b) || std::isnan(pixel.a);
}

bool not_a_number(const RgbaF32& pixel) {
    return has_nan(pixel);
}

bool not_a_number(const RgbaDepthF32& pixel) {
    return has_nan(pixel) || std::isnan(pixel.depth);
}

/// Comparisons with NaN are false: such a pixel is counted above, not here.
template <class Pixel>
bool not_premultiplied(const Pixel& pixel) {
    constexpr float tolerance = premultiplied_tolerance;
    const float most = pixel.a + tolerance;
    return pixel.r < -tolerance || pixel.g < -tolerance || pixel.b < -tolerance ||
           pixel.a < -tolerance || pixel.r > most || pixel.g > most || pixel.b > most ||
           pixel.a > 1 + tolerance;
}

template <class Pixel>
PixelCheck count(std::span<const Pixel> pixels) {
    PixelCheck check;
    for (const Pixel& pixel : pixels) {
        check.not_a_number += not_a_number(pixel);
        check.not_premultiplied += not_premultiplied(pixel);
    }
    return check;
}

} // namespace

PixelCheck check_pixels(std::span<const RgbaF32> pixels) {
    return count(pixels);
}

PixelCheck check_pixels(std::span<const RgbaDepthF32> pixels) {
    return count(pixels);
}

PixelCheck check_pixels(const Image& image) {
    if (image.element() == rgba_f32)
        return check_pixels(image.pixels<RgbaF32>());
    if (image.element() == rgba_depth_f32)
        return check_pixels(image.pixels<RgbaDepthF32>());
    throw std::logic_error("pixels checked that are not colours");
}

} // namespace sextant::format
