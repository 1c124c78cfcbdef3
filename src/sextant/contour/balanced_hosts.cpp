// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/balanced_hosts.hpp"

namespace sextant::contour {

namespace {

/// The lowest digit becomes the highest.
int reversed(int number, int count) {
    int made = 0;
    for (const Digit digit : digits(count))
        made = made * digit.radix + digit.of(number);
    return made;
}

} // namespace

int balanced_host(const Grid& grid, int tile) {
    return reversed(tile / grid.columns, grid.rows) * grid.columns +
           reversed(tile % grid.columns, grid.columns);
}

} // namespace sextant::contour
