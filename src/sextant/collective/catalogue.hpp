// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/claims.hpp"
#include "sextant/core/collective.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

#include <span>
#include <string_view>

namespace sextant::collective {

/// A way to do one of the collectives: one row here.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    Collective what;
    /// The grid for so many elements, in the image, or on each rank of an all-to-all: strips, or
    /// nearly square where submachines are.
    Grid (*grid)(int ranks, Elements elements);
    /// One rank's program, of grid.ranks().
    Program (*program)(const Grid& grid, int rank);

    /// What `prove` is to show of it.
    Claim claim(const Grid& image) const { return claim_of(what, image); }
};

/// Every algorithm, for any number of ranks.
std::span<const Algorithm> catalogue();

/// By name. Throws InvalidTask with near names.
const Algorithm& find(std::string_view name);

} // namespace sextant::collective
