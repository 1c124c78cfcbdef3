// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

// Lists of any length from everyone to everyone.
namespace sextant {

/// Lists one after another, by rank.
template <class Value>
struct ByRank {
    std::vector<Elements> counts; ///< [rank]
    std::vector<Value> values;
};

namespace detail {
/// How many everyone sends here. Collective.
std::vector<Elements> counts_from(const Communicator& communicator,
                                  std::span<const Elements> counts_to);
/// Requires  room for all that comes.
void deal(const Communicator& communicator, Bytes element, std::span<const Elements> counts_to,
          std::span<const std::byte> values, std::span<const Elements> counts_from,
          std::span<std::byte> to);
void tell_all(const Communicator& communicator, Bytes element, std::span<const Elements> counts,
              std::span<const std::byte> mine, std::span<std::byte> to);
Elements sum(std::span<const Elements> counts);
} // namespace detail

/// Gives each rank its list, and gets one from each.
/// Collective.
/// Cost      a message a pair of ranks, none where a list is empty; and the numbers of entries,
/// with
///           O(√p) messages a rank on many ranks.
template <class Value>
ByRank<Value> deal(const Communicator& communicator,
                   const std::vector<std::vector<Value>>& to_each) {
    static_assert(std::is_trivially_copyable_v<Value>);
    ByRank<Value> sent, got;
    for (const std::vector<Value>& list : to_each) {
        sent.counts.push_back(static_cast<Elements>(list.size()));
        sent.values.insert(sent.values.end(), list.begin(), list.end());
    }
    got.counts = detail::counts_from(communicator, sent.counts);
    got.values.resize(static_cast<std::size_t>(detail::sum(got.counts)));
    detail::deal(communicator, sizeof(Value), sent.counts, std::as_bytes(std::span(sent.values)),
                 got.counts, std::as_writable_bytes(std::span(got.values)));
    return got;
}

/// Gives everyone this rank's list.
/// Collective.
/// Cost      one collective call where lists are about as long, otherwise a message a pair of ranks
///           and none where a list is empty; everyone's lists on every rank.
template <class Value>
ByRank<Value> tell_all(const Communicator& communicator, const std::vector<Value>& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    ByRank<Value> got;
    got.counts = communicator.all_gather(static_cast<Elements>(mine.size()));
    got.values.resize(static_cast<std::size_t>(detail::sum(got.counts)));
    detail::tell_all(communicator, sizeof(Value), got.counts, std::as_bytes(std::span(mine)),
                     std::as_writable_bytes(std::span(got.values)));
    return got;
}

} // namespace sextant
