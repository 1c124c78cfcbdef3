// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Binomial gather to rank 0, the scatter backwards: a rank that holds the tiles of [r, r + m)
/// takes those of [r + m, r + 2m), until it heads no more and sends all on. What it holds lies
/// packed: it is sent as one contiguous message, and received into strides within rows of tiles.
///
/// Input     tile `rank`, row by row.
/// Output    at rank 0 the image; elsewhere nothing.
/// Cost      ⌈log2 p⌉ rounds; rank 0 receives ⌈log2 p⌉ messages, all but its own tile.
/// Source    as binomial_scatter
Program binomial_gather(const Grid& grid, int rank);

} // namespace sextant::collective
