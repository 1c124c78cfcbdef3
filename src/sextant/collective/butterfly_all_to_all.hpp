// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// logp-lev-bfly: the machine is halved, along its longer side; everyone sends what is for the
/// other half to the processor at its own place there, and each half goes on by itself. Where
/// halves differ, the last column or row of the larger one sends to the first of the smaller.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      ⌈log2 columns⌉ + ⌈log2 rows⌉ supersteps of a message a rank; where halves are equal,
///           half of what everyone has.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program butterfly_all_to_all(const Grid& grid, int rank);

} // namespace sextant::collective
