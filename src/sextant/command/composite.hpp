// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/element.hpp"

#include <string>
#include <string_view>

namespace sextant::command {

/// Compositor options for images of a format, from the parameters. Throws InvalidTask if parameters
/// contradict each other or the format.
CompositeOptions composite_options(const Values& values, const ElementFormat& element);

/// The forms that parse_colour accepts, for messages.
inline constexpr std::string_view colour_forms =
    "white, black, gray, #rrggbb, #rrggbbaa, or r,g,b[,a] from 0 to 1";

/// Parses a colour in one of these forms, not premultiplied; returns it premultiplied. Values are
/// not converted: #80 is 128/255 in the scale of the pixels. Throws InvalidTask, naming the forms.
RgbaF32 parse_colour(const std::string& text);

/// The element format for "f32", "f16" or "u8", with depth if operator `blend` needs it. Throws
/// InvalidTask for other names and unknown operators.
ElementFormat element_named(const std::string& name, const std::string& blend);

} // namespace sextant::command
