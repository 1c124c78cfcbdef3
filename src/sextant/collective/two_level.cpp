// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/two_level.hpp"

#include "sextant/collective/levels.hpp"

namespace sextant::collective {

namespace {

Division divide(const Submachine& machine, int) {
    return machine.rows > 1 ? into_rows(machine) : into_processors(machine);
}

} // namespace

Program two_level_scatter(const Grid& grid, int rank) {
    return scatter_by_levels(grid, divide, rank);
}

Program two_level_gather(const Grid& grid, int rank) {
    return gather_by_levels(grid, divide, rank);
}

} // namespace sextant::collective
