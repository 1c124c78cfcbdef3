// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/element.hpp"

#include <string>
#include <string_view>

namespace sextant::command {

/// How a compositor is to blend images of a format, from what the user asked for.
/// Throws    InvalidTask for what does not go together.
CompositeOptions composite_options(const Values& values, const ElementFormat& element);

/// What parse_colour takes, for people.
inline constexpr std::string_view colour_forms =
    "white, black, gray, #rrggbb, #rrggbbaa, or r,g,b[,a] from 0 to 1";

/// A colour in one of these forms, straight; premultiplied on return. Values are taken as they are:
/// #80 is 128/255, in the same scale as the pixels. Throws InvalidTask, naming the forms.
RgbaF32 parse_colour(const std::string& text);

/// The element format that a user calls "f32", "f16" or "u8": with depth where the operator `blend`
/// needs it. Throws InvalidTask for other names and for operators that are unknown.
ElementFormat element_named(const std::string& name, const std::string& blend);

} // namespace sextant::command
