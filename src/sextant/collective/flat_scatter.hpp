// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Flat-tree scatter: rank 0 sends every other rank its tile, one after another, straight from the
/// image. Tiles narrower than the image are strided at rank 0 and contiguous elsewhere.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`; at rank 0 it stays in the image.
/// Cost      rank 0 sends p − 1 messages, all but its own tile.
/// Source    the one-level flat tree of Seinstra and Koelma, TPDS 13(7), 2002
Program flat_scatter(const Grid& grid, int rank);

} // namespace sextant::collective
