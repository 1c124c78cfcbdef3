// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sextant {

/// Everyone's text, by rank, on every rank: messages for people, of any length.
/// Collective.
/// Cost      an all-gather of lengths, and one of 1 KiB, or one for each 16 KiB of the longest.
std::vector<std::string> all_gather_texts(const Communicator& communicator,
                                          const std::string& mine);

/// Everyone's bytes, of so many of each rank, one after another in rank order.
/// Requires  `sizes` as they are, on every rank, and as many bytes to write to as they say
///           (std::logic_error).
/// Collective.
/// Cost      as of texts, but for the lengths; no memory but of 16 KiB a rank.
void all_gather_bytes(const Communicator& communicator, std::span<const std::byte> mine,
                      std::span<const std::size_t> sizes, std::span<std::byte> all);

/// Everyone's values, any number of each rank, one after another in rank order, on every rank.
/// Collective.
/// Cost      as of texts; no memory beside the result.
template <class Value>
std::vector<Value> all_gather_lists(const Communicator& communicator, std::span<const Value> mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::vector<std::size_t> sizes = communicator.all_gather(mine.size_bytes());
    const std::size_t bytes = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    std::vector<Value> all(bytes / sizeof(Value));
    all_gather_bytes(communicator, std::as_bytes(mine), sizes,
                     std::as_writable_bytes(std::span(all)));
    return all;
}

} // namespace sextant
