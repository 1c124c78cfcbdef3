// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/stages.hpp"

namespace sextant::contour {

/// 2-lev-rc: everyone in a row of tiles gets all lists of the row, then everyone in a column those
/// of the rows; each over the longest distance first.
Stages two_level_rows_columns(const Grid& grid);

} // namespace sextant::contour
