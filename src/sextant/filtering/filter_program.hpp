// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/filtering/filter_task.hpp"
#include "sextant/schedule/builder.hpp"

#include <functional>
#include <span>

namespace sextant::filtering {

/// The data of one filter on one rank: the tile with its margins, clipped to the image, and the
/// destinations of its results, each of the size of the tile.
struct Work {
    int filter = 0;  ///< 0 for the first
    Tile tile, held; ///< in the image
    Region source;   ///< `held`, row by row
    std::span<const Region> made;
};

/// Adds the steps of a filter on one rank to its program.
using AddWork = std::function<void(ProgramBuilder& builder, const Work& work)>;

/// Copies the tile unchanged, for programs that only show the communication.
void keep_tile(ProgramBuilder& builder, const Work& work);

/// A whole filter program: distributes the image, exchanges borders before each filter (except the
/// first after a broadcast, which includes them), runs the filters, and collects the results of the
/// last one, one output after another. A rank continues as soon as it has done its part of the
/// earlier steps. `prove` accepts the program if the work uses everything that ranks receive; it
/// rejects broadcasts, which send data that is never used.
///
/// Input     at rank 0 the image, row by row; without distribution, the tile at each rank.
/// Output    at rank 0 the outputs, one image after another, if they are collected; otherwise each
///           rank's tiles of them.
/// Requires  as check.
/// Cost      two tiles with margins, the outputs, and the memory that the collectives need.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
Program program(const Task& task, const Way& way, int rank, const AddWork& add_work = keep_tile);

/// The border exchange before a filter with this margin.
Program border_exchange(const Grid& grid, Elements margin, int rank);

} // namespace sextant::filtering
