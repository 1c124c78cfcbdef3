// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/merging.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <string_view>

namespace sextant::contour {

/// An order in which what is known of tiles' borders is merged over any grid: one row here.
struct Pattern {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    Stages (*stages)(const Grid& grid);
    Hosts hosts = Hosts::own;
};

std::span<const Pattern> catalogue();

/// By name. Throws InvalidTask with near names.
const Pattern& find(std::string_view name);

/// One rank's program, of grid.ranks(), on lists (merging).
Program program(const Pattern& pattern, const Grid& grid, int rank, const ListRoom& room = {});
/// Its messages where lists have sizes (sized_merging).
Program sized_program(const Pattern& pattern, const Grid& grid, int rank, const ListSizes& sizes);

/// What `prove` is to show: each rank ends with what there is of all others, merged in order.
Claim claim(const Pattern& pattern, const Grid& grid);

} // namespace sextant::contour
