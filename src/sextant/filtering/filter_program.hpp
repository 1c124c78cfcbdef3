// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/filtering/filter_task.hpp"
#include "sextant/schedule/builder.hpp"

#include <functional>
#include <span>

namespace sextant::filtering {

/// What one filter has on one rank: the tile with its margins, of which nothing lies outside of the
/// image; and where what it makes of the tile goes, each the size of the tile.
struct Work {
    int filter = 0;  ///< 0 for the first
    Tile tile, held; ///< in the image
    Region source;   ///< `held`, row by row
    std::span<const Region> made;
};

/// Adds the steps of a filter on one rank to its program.
using AddWork = std::function<void(ProgramBuilder& builder, const Work& work)>;

/// The tile as it is: for who asks only what moves between ranks.
void keep_tile(ProgramBuilder& builder, const Work& work);

/// A whole program of filters: the image is distributed, borders are exchanged before each filter
/// (but the first after a broadcast, which brings them), filters are done, and what the last one
/// made is collected, one output after another. A rank goes on when it has done its part of what
/// comes before. `prove` accepts it if the work uses all that ranks receive; that a broadcast
/// brings them what they never use, it refuses.
///
/// Input     at rank 0 the image, row by row; where nothing is distributed the tile at each rank.
/// Output    at rank 0 the outputs, one image after another, where they are collected; otherwise
///           each rank's tiles of them.
/// Requires  as check.
/// Cost      two tiles with margins beside the outputs, and what the collectives need.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
Program program(const Task& task, const Way& way, int rank, const AddWork& add_work = keep_tile);

/// The exchange before a filter that needs such a margin.
Program border_exchange(const Grid& grid, Elements margin, int rank);

} // namespace sextant::filtering
