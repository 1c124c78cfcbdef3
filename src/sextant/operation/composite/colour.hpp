// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <string>
#include <string_view>

namespace sextant::operation {

/// What parse_colour takes, for people.
inline constexpr std::string_view colour_forms =
    "white, black, gray, #rrggbb, #rrggbbaa, or r,g,b[,a] from 0 to 1";

/// A colour in one of these forms, straight; premultiplied on return. Values are taken as they are:
/// #80 is 128/255, in the same scale as the pixels. Throws InvalidTask, naming the forms.
RgbaF32 parse_colour(const std::string& text);

} // namespace sextant::operation
