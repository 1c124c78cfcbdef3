// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/submachine.hpp"
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

} // namespace sextant::collective
