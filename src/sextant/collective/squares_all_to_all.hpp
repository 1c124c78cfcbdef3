// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// 2-lev-sq: the machine is cut into about √p squares. Within each, what is for square l goes to
/// member l; member l of square j sends it to member j of square l; and within the squares
/// everything goes to its processor. Where there are more squares than members, a member minds
/// several squares, and sends as many messages in the second step; where there are fewer, the other
/// members mind none. So any grid will do.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      three supersteps; with √p squares of √p members 2 (√p − 1) + 1 messages a rank; every
///           block travels three times at most.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program squares_all_to_all(const Grid& grid, int rank);

} // namespace sextant::collective
