// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Ring all-gather: in round i everyone gives the next rank the tile that came in the round before,
/// at first its own, until every tile has been everywhere.
///
/// Input     tile `rank`, row by row.
/// Output    the image; tiles narrower than it travel in strides.
/// Cost      p − 1 rounds of one message a rank, of one tile each: no rank sends or receives more
///           than it must.
/// Source    the bucket algorithm of Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007,
///           doi:10.1002/cpe.1206
Program ring_all_gather(const Grid& grid, int rank);

} // namespace sextant::collective
