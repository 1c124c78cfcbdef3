// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/three_level.hpp"

#include "sextant/collective/levels.hpp"

namespace sextant::collective {

namespace {

Division divide(const Submachine& machine, int level) {
    if (level == 0)
        return {machine, into_squares(machine)};
    return machine.rows > 1 ? into_rows(machine) : into_processors(machine);
}

} // namespace

Program three_level_scatter(const Grid& grid, int rank) {
    return scatter_by_levels(grid, divide, rank);
}

Program three_level_gather(const Grid& grid, int rank) {
    return gather_by_levels(grid, divide, rank);
}

} // namespace sextant::collective
