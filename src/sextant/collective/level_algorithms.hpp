// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <vector>

namespace sextant::collective {

/// A machine in parts, disjoint and together all of it, the first with its leader; and what the
/// messages between the parts' leaders travel on.
struct Division {
    Submachine travelled;
    std::vector<Submachine> parts;
};

/// How a k-level algorithm divides a submachine at a level, 0 that of the whole machine. It comes
/// down to single processors in the end.
using Divide = std::function<Division(const Submachine& machine, int level)>;

/// Every processor a part of its own, over the whole submachine.
Division into_processors(const Submachine& machine);
/// Rows, whose leaders are a column.
Division into_rows(const Submachine& machine);

/// A scatter by levels from rank 0: the leader of a submachine sends each part's leader the tiles
/// of that part as one message; then each part goes on by itself.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`, within what it was sent.
/// Cost      a superstep a level; p − 1 messages in all.
Program scatter_by_levels(const Grid& grid, const Divide& divide, int rank);

/// The scatter backwards: leaders collect what the leaders of parts have collected, the innermost
/// parts first.
///
/// Input     tile `rank`, row by row.
/// Output    at rank 0 the image; elsewhere nothing.
Program gather_by_levels(const Grid& grid, const Divide& divide, int rank);

/// The whole image to everyone, along the same tree.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
Program broadcast_by_levels(const Grid& grid, const Divide& divide, int rank);

/// 2-lev-rec: rank 0 sends each row of processors its tiles as one message, down its column; the
/// first of each row deals them out along the row. The gather is the same backwards.
///
/// Input     of the scatter, at rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; at rank 0 the image.
/// Cost      rank 0 sends rows − 1 long and columns − 1 short messages, in two supersteps; every
///           message of the first is a contiguous piece of the image.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program two_level_scatter(const Grid& grid, int rank);
Program two_level_gather(const Grid& grid, int rank);

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
