// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// The one-level all-to-alls: every block goes straight to its rank. 1-lev-dir sends them all at
/// once, beginning with the next rank; 1-lev-perm one permutation after another: round i goes i + 1
/// ranks on (linear), or to the rank that differs by i + 1 (exclusive or: partners exchange, and
/// some ranks pause where their number is no power of two). Permutations have a window of one
/// round.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      p − 1 messages a rank, of one block each.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program direct_all_to_all(const Grid& grid, int rank);
Program linear_all_to_all(const Grid& grid, int rank);
Program exclusive_or_all_to_all(const Grid& grid, int rank);

} // namespace sextant::collective
