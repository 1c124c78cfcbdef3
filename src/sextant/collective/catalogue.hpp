// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"
#include "sextant/schedule/collective_kind.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <string_view>

namespace sextant::collective {

/// The pixels that a rank starts with (pixels_before) and ends with (pixels_after), in storage
/// order, as a region of buffer 0, which holds the image row by row, or all blocks. Not defined for
/// Partition::pairs.
Region pixels_before(CollectiveKind kind, const Partition& data, int rank);
Region pixels_after(CollectiveKind kind, const Partition& data, int rank);

/// The claim to prove for a schedule: every rank ends with the right pixels in order. The input of
/// rank r is operand r of a reduction or scan, and operand 0 of all other kinds; with
/// `commutative`, operands may be combined in any order.
Claim claim_of(CollectiveKind kind, const Partition& data, bool commutative = false);

/// An algorithm for one of the collectives: one row of the catalogue.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    CollectiveKind what;
    /// The grid for an image of this many elements (for an all-to-all: on each rank). The grid
    /// consists of strips or, for algorithms that use submachines, of a nearly square arrangement
    /// of tiles.
    Grid (*grid)(int ranks, Elements elements);
    /// One rank's program, for data.ranks() ranks. Rank 0 is the root.
    Program (*program)(const Partition& data, int rank);
    /// The name of the algorithm's parameter, "gamma" or "alpha", and one rank's program for a
    /// given value; `program` uses the published value. Not set for algorithms without a parameter.
    std::string_view parameter = {};
    Program (*program_with)(const Partition& data, int rank, double value) = nullptr;
    bool commutative = false; ///< requires a commutative operator

    /// The claim to prove for a schedule of this algorithm.
    Claim claim(const Partition& data) const { return claim_of(what, data, commutative); }
};

/// Every algorithm that only moves data; each supports any number of ranks.
std::span<const Algorithm> catalogue();

/// The algorithms for reductions that divide the elements among the ranks; each supports any number
/// of ranks. Those that combine in rank order support every operator.
std::span<const Algorithm> reductions();

/// Finds an algorithm of catalogue() by name. Throws InvalidTask, which suggests similar names, if
/// it is unknown.
const Algorithm& find(std::string_view name);

} // namespace sextant::collective
