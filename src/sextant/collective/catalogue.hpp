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

/// What is to come to whom: the collective operations of MPI, of an image cut into tiles.
enum class Collective : std::uint8_t {
    broadcast,  ///< rank 0's image to everyone
    scatter,    ///< tile i of rank 0's image to rank i
    gather,     ///< everyone's tile into an image at rank 0
    all_gather, ///< everyone's tile into an image at everyone
    all_to_all  ///< strips of rows become strips of columns: something of everyone's to everyone
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

/// The pixels of the image with which a rank begins, and with which it ends, in the order in which
/// it has them: a region of buffer 0, in which the image lies row by row.
Region pixels_before(Collective collective, const Grid& grid, int rank);
Region pixels_after(Collective collective, const Grid& grid, int rank);

/// What `prove` is to show of a schedule for it: every rank ends with what is wanted, in place.
Claim claim_of(Collective collective, const Grid& grid);

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
