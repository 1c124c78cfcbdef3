// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
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
