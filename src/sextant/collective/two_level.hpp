// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// 2-lev-rec: rank 0 sends each row of processors its tiles as one message, down its column; the
/// first of each row deals them out along the row. The gather is the same backwards.
///
/// Input     of the scatter, at rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; at rank 0 the image.
/// Cost      rank 0 sends rows − 1 long and columns − 1 short messages, in two supersteps; every
///           message of the first is a contiguous piece of the image.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program two_level_scatter(const Grid& grid, int rank);
Program two_level_gather(const Grid& grid, int rank);

} // namespace sextant::collective
