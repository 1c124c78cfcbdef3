// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace sextant {

/// The collective operations of MPI, for an image cut into tiles.
enum class Collective : std::uint8_t {
    broadcast,  ///< rank 0's image to all ranks
    scatter,    ///< tile i of rank 0's image to rank i
    gather,     ///< all tiles into an image at rank 0
    all_gather, ///< all tiles into an image at every rank
    all_to_all  ///< strips of rows become strips of columns
};

inline constexpr Collective collectives[] = {Collective::broadcast, Collective::scatter,
                                             Collective::gather, Collective::all_gather,
                                             Collective::all_to_all};

constexpr std::string_view name(Collective collective) {
    switch (collective) {
    case Collective::broadcast:
        return "broadcast";
    case Collective::scatter:
        return "scatter";
    case Collective::gather:
        return "gather";
    case Collective::all_gather:
        return "all-gather";
    case Collective::all_to_all:
        return "all-to-all";
    }
    return "";
}

} // namespace sextant

namespace sextant::collective {

/// The pixels that a rank begins with, and those it ends with, in the order in which it holds them:
/// a region of buffer 0 that holds the image row by row.
Region pixels_before(Collective collective, const Grid& grid, int rank);
Region pixels_after(Collective collective, const Grid& grid, int rank);

/// The claim to prove for a schedule: every rank ends with the right pixels in order.
Claim claim_of(Collective collective, const Grid& grid);

/// An algorithm for one of the collectives: one row of the catalogue.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    Collective what;
    /// The grid for this many elements in the image (for an all-to-all: on each rank). Strips, or
    /// nearly square for algorithms that use submachines.
    Grid (*grid)(int ranks, Elements elements);
    /// One rank's program, for grid.ranks() ranks.
    Program (*program)(const Grid& grid, int rank);

    /// The claim to prove for it.
    Claim claim(const Grid& image) const { return claim_of(what, image); }
};

/// Every algorithm; each supports any number of ranks.
std::span<const Algorithm> catalogue();

/// Finds an algorithm by name. Throws InvalidTask with similar names.
const Algorithm& find(std::string_view name);

} // namespace sextant::collective
