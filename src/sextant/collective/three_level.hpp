// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// 3-lev-sq: rank 0 sends each of about √p squares of processors its tiles as one message; within
/// each it goes on as in two levels. A side of n processors is cut into round(√n) nearly equal
/// parts, so that any grid has its squares. The gather is the same backwards.
///
/// Input     of the scatter, at rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; at rank 0 the image.
/// Cost      three supersteps; on √p × √p processors rank 0 sends √p − 1 + 2 (√√p − 1) messages.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program three_level_scatter(const Grid& grid, int rank);
Program three_level_gather(const Grid& grid, int rank);

} // namespace sextant::collective
