// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// 2-lev-c,r: first everyone sends, within its column of processors, each row of them what is for
/// that row, as one message; then everyone sends, within its row, each processor what is for it
/// from the whole column.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      rows − 1 and columns − 1 messages a rank; every block travels twice.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program columns_rows_all_to_all(const Grid& grid, int rank);

} // namespace sextant::collective
