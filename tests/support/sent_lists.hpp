// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contours/contour_merging.hpp"

#include "tests/support/direction_maps.hpp"
#include "tests/support/merged_lists.hpp"

// Data volume of merging the contours of a direction map: counted on schedules, with the lists of
// its tiles.
namespace sextant::test {

inline std::vector<contour::Boundary> boundaries_of(const DirectionMap& map, const Grid& grid,
                                                    const contour::Pattern& pattern) {
    const contour::Order order(grid, pattern.stages(grid));
    std::vector<contour::Boundary> lists;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        kernel::ContourRanking ranking;
        ranking.apply(map.view(), tile(grid, rank));
        lists.push_back(boundary_of(ranking, order.position(rank)));
    }
    return lists;
}

/// Total data sent to merge a map with a pattern.
inline Sent sent_lists(const DirectionMap& map, const Grid& grid, const contour::Pattern& pattern) {
    return MergedLists(pattern, grid, boundaries_of(map, grid, pattern)).sent();
}

} // namespace sextant::test
