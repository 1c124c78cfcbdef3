// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/directions.hpp"

#include <cstdint>

// Which links of a direction map hold, row by row, in vectors. Where several edge points are
// followed by the same one, the link of the lowest direction holds; the others become heads.
// Rows are readable from [−2] to `link_slack` past their end.
namespace sextant::kernel {

inline constexpr Elements link_slack = 66;

/// Three rows, one under the other.
struct ThreeRows {
    const Direction *above, *here, *below;
};

/// What is told of a row of links.
struct LinkCounts {
    Elements junctions = 0; ///< points that more than one point is followed by
    bool faulty = false;    ///< there is a link to what is no edge point, or what is no direction
};

/// [x] for x from −1 to `width`: the direction of the link to x that holds, or no_edge.
LinkCounts find_predecessors(const ThreeRows& directions, Elements width, Direction* predecessors);

/// [x] from 0 to `width` − 1: the direction of the link from x if it holds, edge_end if not,
/// no_edge where there is no edge point; and those points in bits (row_bits.hpp). Writes up to
/// `link_slack` past the end. Returns how many links do not hold.
Elements find_successors(const Direction* directions, const ThreeRows& predecessors, Elements width,
                         Direction* successors, std::uint64_t* points);

} // namespace sextant::kernel
