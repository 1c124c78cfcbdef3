// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <vector>

namespace sextant::collective {

/// A machine divided into disjoint parts, the first of which contains the machine's leader.
/// Messages between the parts' leaders travel within the submachine `travelled`.
struct Division {
    Submachine travelled;
    std::vector<Submachine> parts;
};

/// Divides a submachine at a level; level 0 is the whole machine. Repeated division must end with
/// single processors.
using Divide = std::function<Division(const Submachine& machine, int level)>;

/// Every processor is a part; messages travel within the whole submachine.
Division into_processors(const Submachine& machine);
/// Every row is a part; the leaders form a column.
Division into_rows(const Submachine& machine);

// All algorithms below also accept blocks of any lengths (Partition): read "block" for "tile", and
// "all blocks" for "image". Rank 0 is the root.

/// A scatter by levels from rank 0: the leader of a submachine sends each part's leader the tiles
/// of that part as one message; then the parts continue independently.
///
/// Input     on rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`, within the message that the rank received.
/// Cost      one superstep per level; p − 1 messages in all.
Program scatter_by_levels(const Partition& data, const Divide& divide, int rank);

/// The reverse of the scatter: leaders collect from the parts' leaders, innermost parts first.
///
/// Input     tile `rank`, row by row.
/// Output    on rank 0 the image; elsewhere nothing.
Program gather_by_levels(const Partition& data, const Divide& divide, int rank);

/// A broadcast by levels: sends the whole image to all ranks along the tree of the scatter.
///
/// Input     on rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
Program broadcast_by_levels(const Partition& data, const Divide& divide, int rank);

/// 2-lev-rec: rank 0 sends each row of processors its tiles as one message, down its column; the
/// first processor of each row scatters them along the row. The gather is the reverse.
///
/// Input     of the scatter, on rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; on rank 0 the image.
/// Cost      rank 0 sends rows − 1 long and columns − 1 short messages, in two supersteps; every
///           message of the first is a contiguous piece of the image.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program two_level_scatter(const Partition& data, int rank);
Program two_level_gather(const Partition& data, int rank);

/// The two-level algorithms with about p^alpha parts instead of the rows: bands of rows, or, if
/// there are more parts than rows, pieces of rows.
///
/// Requires  0 < alpha < 1; otherwise throws InvalidTask.
Program two_level_scatter(const Partition& data, int rank, double alpha);
Program two_level_gather(const Partition& data, int rank, double alpha);

/// 3-lev-sq: rank 0 sends each of about √p squares of processors its tiles as one message; each
/// square then continues with two levels. A side of n processors is cut into round(√n) nearly equal
/// parts, so that any grid has squares. The gather is the reverse.
///
/// Input     of the scatter, on rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; on rank 0 the image.
/// Cost      three supersteps; on √p × √p processors rank 0 sends √p − 1 + 2 (√√p − 1) messages.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program three_level_scatter(const Partition& data, int rank);
Program three_level_gather(const Partition& data, int rank);

/// logp-lev-sq and logp-lev-rec(γ): the machine is cut in two along its longer side, repeatedly. At
/// each cut the leader, on rank 0's side, keeps a fraction γ and sends the other tiles to the
/// leader of the other part. With γ = ½, every second cut gives squares. The gather is the reverse.
/// Published values are γ = .75 for the scatter and .60 for the gather.
///
/// Input     of the scatter, on rank 0 the image; of the gather, tile `rank`.
/// Output    tile `rank`; on rank 0 the image.
/// Requires  0 < γ < 1; otherwise throws InvalidTask.
/// Cost      halving: ⌈log2 columns⌉ + ⌈log2 rows⌉ supersteps, of one message per submachine.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program halving_scatter(const Partition& data, int rank, double share = .5);
Program halving_gather(const Partition& data, int rank, double share = .5);

/// 1-lev-br: the whole image is broadcast along the tree of halvings; each rank may extract its own
/// tile.
///
/// Input     on rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
/// Cost      the supersteps of the scatter; each message is the whole image.
/// Source    the same as halving_scatter
Program halving_broadcast(const Partition& data, int rank);

} // namespace sextant::collective
