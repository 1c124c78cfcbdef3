// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// logp-lev-sq and logp-lev-rec(γ): the machine is cut in two along its longer side, and again; at
/// each cut the leader of what has rank 0's side keeps a share γ and sends the rest of the tiles to
/// the other part's leader. γ = ½ halves: squares after every second cut. The gather is the same
/// backwards. Published are γ = .75 for the scatter, .60 for the gather.
///
/// Input     of the scatter, at rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; at rank 0 the image.
/// Requires  0 < γ < 1; otherwise throws InvalidTask.
/// Cost      halving: ⌈log2 columns⌉ + ⌈log2 rows⌉ supersteps, of a message a submachine.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program halving_scatter(const Grid& grid, int rank, double share = .5);
Program halving_gather(const Grid& grid, int rank, double share = .5);

/// 1-lev-br: the whole image goes to everyone down the tree of halvings; each may take its own tile
/// from it.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
/// Cost      the supersteps of the scatter, each message the whole image.
/// Source    as above
Program halving_broadcast(const Grid& grid, int rank);

} // namespace sextant::collective
