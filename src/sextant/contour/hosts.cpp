// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/hosts.hpp"

#include <algorithm>

namespace sextant::contour {

namespace {

/// The lowest digit becomes the highest.
int reversed(int number, int count) {
    int made = 0;
    for (const Digit digit : digits(count))
        made = made * digit.radix + digit.of(number);
    return made;
}

/// The number that becomes this one.
int reversed_from(int number, int count) {
    std::vector<Digit> all = digits(count);
    std::reverse(all.begin(), all.end());
    int made = 0, base = 1;
    for (const Digit digit : all) {
        made += number / base % digit.radix * digit.base;
        base *= digit.radix;
    }
    return made;
}

/// How many columns or rows lie between those that differ in a digit, and their ends.
int reach(Hosts hosts, Digit digit, int count) {
    if (digit.radix == 1)
        return 1;
    return hosts == Hosts::own ? digit.base * digit.radix : count / digit.base;
}

} // namespace

int host(Hosts hosts, const Grid& grid, int tile) {
    if (hosts == Hosts::own)
        return tile;
    return reversed(tile / grid.columns, grid.rows) * grid.columns +
           reversed(tile % grid.columns, grid.columns);
}

int tile_of(Hosts hosts, const Grid& grid, int rank) {
    if (hosts == Hosts::own)
        return rank;
    return reversed_from(rank / grid.columns, grid.rows) * grid.columns +
           reversed_from(rank % grid.columns, grid.columns);
}

collective::Submachine submachine(Hosts hosts, const Grid& grid, const Stage& stage, int rank) {
    const int columns = reach(hosts, stage.column, grid.columns);
    const int rows = reach(hosts, stage.row, grid.rows);
    const int column = rank % grid.columns, row = rank / grid.columns;
    return {column / columns * columns, row / rows * rows, columns, rows};
}

} // namespace sextant::contour
