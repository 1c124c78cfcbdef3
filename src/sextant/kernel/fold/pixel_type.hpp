// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

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

} // namespace sextant::kernel
