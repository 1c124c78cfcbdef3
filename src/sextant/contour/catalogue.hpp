// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/merging.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::contour {

/// A pattern of exchanges by which ranks merge the border lists of tiles, on any grid: one row of
/// the catalogue.
struct Pattern {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    Stages (*stages)(const Grid& grid);
    Hosts hosts = Hosts::own;
};

/// The name of a pattern in plans (planner/plan.hpp).
inline std::string text_of(const Pattern* pattern) {
    return std::string(pattern->name);
}

std::span<const Pattern> catalogue();

/// Finds a pattern by name. Throws InvalidTask, which suggests similar names, if the name is
/// unknown.
const Pattern& find(std::string_view name);

/// Returns one rank's program that merges lists, for grid.ranks() ranks (see merging).
Program program(const Pattern& pattern, const Grid& grid, int rank, const ListRoom& room = {});
/// Returns a program for models: the same messages as program(), but for lists of given sizes (see
/// sized_merging).
Program sized_program(const Pattern& pattern, const Grid& grid, int rank, const ListSizes& sizes);

/// The claim to prove: each rank ends with the lists of all other tiles, merged in order.
Claim claim(const Pattern& pattern, const Grid& grid);

} // namespace sextant::contour
