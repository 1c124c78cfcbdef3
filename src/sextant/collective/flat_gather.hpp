// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Flat-tree gather: every rank sends its tile to rank 0, which receives it where it lies in the
/// image: in strides, where tiles are narrower than the image.
///
/// Input     tile `rank`, row by row.
/// Output    at rank 0 the image; elsewhere nothing.
/// Cost      rank 0 receives p − 1 messages, all but its own tile.
/// Source    the one-level flat tree of Seinstra and Koelma, TPDS 13(7), 2002
Program flat_gather(const Grid& grid, int rank);

} // namespace sextant::collective
