// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"
#include "sextant/schedule/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// Exchange of lists of any length between all ranks.
namespace sextant {

/// One list per rank, stored one after another in rank order.
template <class Value>
struct ByRank {
    std::vector<Elements> counts; ///< number of values of each rank
    std::vector<Value> values;
};

namespace detail {
/// Returns the number of elements that each rank sends to this rank. Collective.
std::vector<Elements> counts_from(const Communicator& communicator,
                                  std::span<const Elements> counts_to);
/// Sends a list to each rank. If `same` is set, every rank gets all of `values`; otherwise rank r
/// gets counts_to[r] values, and the lists are stored one after another.
/// Requires  room in `to` for all elements received.
void exchange_lists(const Communicator& communicator, Bytes element,
                    std::span<const Elements> counts_to, std::span<const std::byte> values,
                    std::span<const Elements> counts_from, std::span<std::byte> to,
                    bool same = false);
Elements sum(std::span<const Elements> counts);
} // namespace detail

/// Sends a list to each rank and receives one from each (all-to-all).
/// Collective.
/// Cost      one message for each list that is not empty, and an exchange of the counts, with O(√p)
///           messages per rank on many ranks.
template <class Value>
ByRank<Value> all_to_all_lists(const Communicator& communicator,
                               const std::vector<std::vector<Value>>& to_each) {
    static_assert(std::is_trivially_copyable_v<Value>);
    ByRank<Value> sent, got;
    for (const std::vector<Value>& list : to_each) {
        sent.counts.push_back(static_cast<Elements>(list.size()));
        sent.values.insert(sent.values.end(), list.begin(), list.end());
    }
    got.counts = detail::counts_from(communicator, sent.counts);
    got.values.resize(static_cast<std::size_t>(detail::sum(got.counts)));
    detail::exchange_lists(communicator, sizeof(Value), sent.counts,
                           std::as_bytes(std::span(sent.values)), got.counts,
                           std::as_writable_bytes(std::span(got.values)));
    return got;
}

/// Returns the lists of all ranks, on every rank (all-gather).
/// Collective.
/// Cost      one collective call if every list has at most 16 KiB, otherwise one message per pair
///           of ranks, none for empty lists. Every rank holds all lists.
template <class Value>
ByRank<Value> all_gather_by_rank(const Communicator& communicator,
                                 const std::vector<Value>& local) {
    static_assert(std::is_trivially_copyable_v<Value>);
    constexpr Bytes little = Bytes{1} << 14;
    ByRank<Value> got;
    got.counts = communicator.all_gather(static_cast<Elements>(local.size()));
    if (*std::ranges::max_element(got.counts) * static_cast<Bytes>(sizeof(Value)) <= little) {
        got.values = all_gather_lists(communicator, local);
        return got;
    }
    got.values.resize(static_cast<std::size_t>(detail::sum(got.counts)));
    const std::vector<Elements> to_each(got.counts.size(), std::ssize(local));
    detail::exchange_lists(communicator, sizeof(Value), to_each, std::as_bytes(std::span(local)),
                           got.counts, std::as_writable_bytes(std::span(got.values)), true);
    return got;
}

/// Returns the lists of all ranks on rank 0, and nothing elsewhere (gather).
/// Collective.
/// Cost      the same as all_to_all_lists().
template <class Value>
ByRank<Value> gather_lists(const Communicator& communicator, std::vector<Value> own) {
    std::vector<std::vector<Value>> to(static_cast<std::size_t>(communicator.size()));
    to[0] = std::move(own);
    return all_to_all_lists(communicator, to);
}

/// Returns the sum of the values of all ranks, on every rank. Collective.
Elements sum_over_ranks(const Communicator& communicator, Elements own);

/// A trace of one rank's messages and merges of tile lists, for reports.
struct MergingTrace {
    Trace trace;
    Bytes sent = 0;
};

/// Returns the order in which a pattern merges the tiles of a grid. Throws InvalidTask unless there
/// is one tile per rank.
contour::Order merging_order(const Communicator& communicator, const Grid& grid,
                             const contour::Pattern& pattern);

/// Returns the maximum number of entries in the merged list of a run of tiles: the sum of `counts`
/// (by rank) over the tiles of the run. For several tiles, it is at most the number of pixels at
/// their border.
contour::ListCapacity list_capacity(const contour::Order& order, std::span<const Elements> counts);

/// Joins this rank's border list with those of all other tiles, which a pattern merges.
///
/// Input     this rank's list; `merger`, with the order of `pattern` (merging_order); `record`:
///           receives this rank's trace, or nullptr.
/// Output    the joined entries of three lists: this rank's list, the merged list of the tiles
///           before its tile, and the merged list of the tiles after it.
/// Collective.
/// Cost      the pattern's messages; memory for its lists, each of the maximum length for its
///           tiles.
template <class Entry>
std::vector<Entry> join_lists(const Communicator& communicator, const contour::Pattern& pattern,
                              const contour::Merger<Entry>& merger,
                              const contour::TileList<Entry>& own, MergingTrace* record = nullptr) {
    const auto counts = communicator.all_gather(static_cast<Elements>(own.entries.size()));
    std::optional<Execution> execution;
    Memory list;
    agree(communicator, [&] {
        const contour::ListCapacity capacity = list_capacity(merger.order, counts);
        const auto room = [&](contour::Run run) {
            return contour::bytes_for<Entry>(capacity(run));
        };
        list = Memory(room(own.tiles));
        contour::put(own, list.data());
        execution.emplace(communicator,
                          contour::program(pattern, merger.order.grid(), communicator.rank(), room),
                          contour::merging_operator<Entry>(merger, capacity),
                          ExecuteOptions{.trace = record != nullptr});
        execution->bind(0, std::as_const(list).bytes());
    });
    execution->run();
    if (record)
        *record = {execution->trace(), execution->sent().bytes};
    std::vector<Entry> joined;
    agree(communicator, [&] {
        std::vector<contour::TileList<Entry>> lists{own};
        const std::span<const std::byte> result = execution->result();
        const Program& program = execution->program();
        const auto size = static_cast<std::size_t>(program.element_size(program.result.buffer, 0));
        for (std::size_t at = 0; at < result.size(); at += size)
            lists.push_back(contour::get<Entry>(result.data() + at));
        joined = merger.join(lists);
    });
    return joined;
}

} // namespace sextant
