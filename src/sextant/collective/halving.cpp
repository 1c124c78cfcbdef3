// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/halving.hpp"

#include "sextant/collective/levels.hpp"
#include "sextant/core/error.hpp"

#include <fmt/format.h>

namespace sextant::collective {

namespace {

Divide in_two(double share) {
    if (!(share > 0 && share < 1))
        throw InvalidTask(
            fmt::format("a share of {}, expected more than 0 and less than 1", share));
    return [share](const Submachine& machine, int) {
        return Division{machine, cut_in_two(machine, share)};
    };
}

} // namespace

Program halving_scatter(const Grid& grid, int rank, double share) {
    return scatter_by_levels(grid, in_two(share), rank);
}

Program halving_gather(const Grid& grid, int rank, double share) {
    return gather_by_levels(grid, in_two(share), rank);
}

Program halving_broadcast(const Grid& grid, int rank) {
    return broadcast_by_levels(grid, in_two(.5), rank);
}

} // namespace sextant::collective
