// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <string>

namespace sextant::format {

/// An array (points, 4) of 64-bit integers: contour, rank, x and y of each point, as CSV has them.
/// Requires  at least one point (InvalidFile): the format, as it is written here, has no empty
/// arrays.
void write_npy(const std::string& path, LineReader& contours);

} // namespace sextant::format
