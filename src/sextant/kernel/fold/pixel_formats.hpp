// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace sextant::kernel {

/// Calls `body` with a pixel of the C++ type that belongs to an element format. Throws
/// std::logic_error if the elements are not colours.
template <class Body>
void with_pixel_type(const ElementFormat& element, Body&& body) {
    if (element == rgba_f32)
        body(RgbaF32{});
    else if (element == rgba_f16)
        body(RgbaF16{});
    else if (element == rgba_u8)
        body(RgbaU8{});
    else if (element == rgba_depth_f32)
        body(RgbaDepthF32{});
    else if (element == rgba_u8_depth_f32)
        body(RgbaU8DepthF32{});
    else
        throw std::logic_error(std::string(element.name) + " pixels have no colours");
}

/// Converts pixels from one format to another, with each channel rounded to nearest, ties to even.
/// To f16: values from 65520 on become infinite. To u8: 255 times the channel, clamped to [0, 255],
/// and 0 for NaN. From u8: the float nearest to the channel divided by 255. Depth is kept or
/// dropped.
///
/// Input     `pixels` in the format `from`.
/// Output    the same number of pixels in `result`, which must not overlap `pixels`.
/// Requires  a depth in `from` if `to` has one, and elements that are colours (std::logic_error).
void convert(const ElementFormat& from, std::span<const std::byte> pixels, const ElementFormat& to,
             std::span<std::byte> result);

/// Puts a background colour behind a composited image: to[i] = picture[i] over `background`. Keeps
/// depth.
///
/// Input     pixels of `element` (std::logic_error if they are not colours); a premultiplied
///           background.
/// Output    the same number of pixels in `to`, which may be `picture` itself; for rounding see
///           pixel_fold.hpp.
void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to);

} // namespace sextant::kernel
