// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/merge_lists.hpp"

#include <algorithm>

namespace sextant {

contour::ListCapacity list_capacity(const contour::Pattern& pattern, const Grid& grid,
                                    std::span<const Elements> counts,
                                    const contour::ListCapacity& bound) {
    const contour::Order order(grid, pattern.stages(grid));
    std::vector<Elements> before(counts.size() + 1, 0); // a position in the order
    for (int rank = 0; rank < grid.ranks(); ++rank)
        before[static_cast<std::size_t>(order.position(rank) + 1)] =
            counts[static_cast<std::size_t>(rank)];
    for (std::size_t i = 1; i < before.size(); ++i)
        before[i] += before[i - 1];
    return [before, bound](contour::Run run) {
        const Elements all = before[static_cast<std::size_t>(run.last)] -
                             before[static_cast<std::size_t>(run.first)];
        return bound && run.last - run.first > 1 ? std::min(all, bound(run)) : all;
    };
}

} // namespace sextant
