// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
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
