// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"
#include "sextant/report/picture_sections.hpp"

namespace sextant::command {

/// The longest contours, without the image; among equally long ones, those that begin first.
report::OutlinedPicture outlined(LineReader& lines);

} // namespace sextant::command
