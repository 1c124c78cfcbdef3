// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <string>

namespace sextant::format {

/// contour,rank,x,y: a row for each point, contours from 0, ranks from 0 at the head.
void write_csv(const std::string& path, LineReader& contours);

} // namespace sextant::format
