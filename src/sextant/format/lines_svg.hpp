// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <string>

namespace sextant::format {

/// A path for each contour through the middles of its pixels; the drawing is as large as the image.
void write_svg(const std::string& path, LineReader& contours);

} // namespace sextant::format
