// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"
#include "sextant/report/picture_sections.hpp"

namespace sextant::command {

/// Reads the longest contours, for a picture whose image is added later. Among contours of equal
/// length, those that come first are kept.
report::OutlinedPicture outlined(LineReader& lines);

} // namespace sextant::command
