// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace sextant::kernel {

/// Calls `body` with a pixel of the type that an element format stands for. Throws std::logic_error
/// for elements that are no colours.
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
        throw std::logic_error(std::string(element.name) + " are no colours");
}

/// Turns pixels of one format into pixels of another: a channel becomes the nearest that the other
/// format has. To f16, of two equally near ones the even, and infinity from 65520 on. To u8, 255
/// times the channel, clamped to [0, 255], of two equally near ones the even, and 0 for NaN. From
/// u8, the float nearest to the quotient by 255. Depth stays, or is dropped.
///
/// Input     `pixels` of `from`.
/// Output    as many in `result`, other memory.
/// Requires  a depth in `from` where `to` has one; std::logic_error otherwise, and for elements
///           that are no colours.
void convert(const ElementFormat& from, std::span<const std::byte> pixels, const ElementFormat& to,
             std::span<std::byte> result);

/// Puts a colour behind a finished picture, once: to[i] = picture[i] over `background`. Depth
/// stays.
///
/// Input     pixels of `element` (std::logic_error if they are no colours); the background
///           premultiplied.
/// Output    as many pixels in `to`, which may be the picture itself; rounded as wide.hpp says.
void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to);

} // namespace sextant::kernel
