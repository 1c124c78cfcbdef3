// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Direct all-gather: everyone sends its tile to everyone at once, beginning with the next rank.
///
/// Input     tile `rank`, row by row.
/// Output    the image; tiles narrower than it are received in strides.
/// Cost      p − 1 messages a rank, of one tile each.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program direct_all_gather(const Grid& grid, int rank);

} // namespace sextant::collective
