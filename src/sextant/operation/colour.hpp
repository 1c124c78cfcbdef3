// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <string>

namespace sextant::operation {

/// A colour from "white", "black", "gray", "#rrggbb", "#rrggbbaa" or "r,g,b" and "r,g,b,a" of
/// numbers from 0 to 1, straight; premultiplied on return. Throws InvalidTask, naming the forms.
RgbaF32 parse_colour(const std::string& text);

} // namespace sextant::operation
