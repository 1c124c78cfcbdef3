// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <span>

namespace sextant::format {

/// How many pixels would spoil a composite. A pixel may be counted in both.
struct PixelCheck {
    Elements not_a_number = 0;      ///< a channel, the depth included, is NaN
    Elements not_premultiplied = 0; ///< a channel is negative or exceeds opacity, or opacity one
    bool good() const { return not_a_number == 0 && not_premultiplied == 0; }
    bool operator==(const PixelCheck&) const = default;
};

/// What a colour may exceed its opacity by: renderers that blend in 8 bits round each by half a
/// step of 1/255.
inline constexpr float premultiplied_tolerance = 1.0F / 255;

/// Looks for pixels that are not premultiplied RGBA. A hint, not a verdict: light that is emitted
/// without covering anything rightly exceeds its opacity.
///
/// Input     pixels as a reader left them; for an image, of either element format (std::logic_error
///           otherwise).
/// Cost      one pass over the pixels.
PixelCheck check_pixels(std::span<const RgbaF32> pixels);
PixelCheck check_pixels(std::span<const RgbaDepthF32> pixels);
PixelCheck check_pixels(const Image& image);

} // namespace sextant::format
