// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sextant {

/// The collective operations of MPI. The algorithms of those that only move data are listed in
/// collective::catalogue(). Reductions use compositing algorithms and collective::reductions(), and
/// scans use prefix circuits.
enum class CollectiveKind : std::uint8_t {
    broadcast,      ///< the root's elements to all ranks
    scatter,        ///< block i of the root's elements to rank i
    gather,         ///< all ranks' blocks, in rank order, to the root
    all_gather,     ///< all ranks' blocks, in rank order, to every rank
    all_to_all,     ///< block j of rank i to rank j; row strips of an image become column strips
    reduce,         ///< all ranks' elements combined in rank order, at the root
    all_reduce,     ///< all ranks' elements combined in rank order, on every rank
    reduce_scatter, ///< block i of all ranks' elements combined in rank order, at rank i
    scan,           ///< the elements of ranks 0 … i combined, at rank i
    exclusive_scan  ///< the elements of ranks 0 … i − 1 combined, at rank i; nothing on rank 0
};

/// The kinds of collectives that only move data.
inline constexpr CollectiveKind data_movements[] = {
    CollectiveKind::broadcast, CollectiveKind::scatter, CollectiveKind::gather,
    CollectiveKind::all_gather, CollectiveKind::all_to_all};

/// The names of all kinds, in the order of CollectiveKind.
inline constexpr std::string_view collective_names[] = {
    "broadcast", "scatter",    "gather",         "all-gather", "all-to-all",
    "reduce",    "all-reduce", "reduce-scatter", "scan",       "exclusive-scan"};

constexpr std::string_view name(CollectiveKind kind) {
    return collective_names[static_cast<std::size_t>(kind)];
}

/// True if the operation combines elements by an operator.
constexpr bool combines(CollectiveKind kind) {
    return kind >= CollectiveKind::reduce;
}

constexpr bool has_root(CollectiveKind kind) {
    return kind <= CollectiveKind::gather || kind == CollectiveKind::reduce;
}

} // namespace sextant

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
