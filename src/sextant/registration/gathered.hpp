// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::registration {

/// What a rank has of so many things that lie one after another: the first, and the one after the
/// last.
struct Share {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
    bool has(std::int64_t thing) const { return thing >= first && thing < last; }
};

inline Share share_of(int rank, int ranks, std::int64_t things) {
    return {things * rank / ranks, things * (rank + 1) / ranks};
}

/// Everyone's values, any number of each rank, in rank order, on every rank.
/// Collective.
/// Cost      an all-gather for every 16 KiB of the rank that has most.
template <class Value>
std::vector<Value> gathered(const Communicator& communicator, std::span<const Value> mine) {
    constexpr std::size_t size = std::max<std::size_t>(1, (std::size_t{1} << 14) / sizeof(Value));
    using Chunk = std::array<Value, size>;
    const std::vector<std::size_t> counts = communicator.all_gather(mine.size());
    std::vector<std::size_t> places; // where a rank's values begin
    std::size_t all = 0;
    for (const std::size_t count : counts) {
        places.push_back(all);
        all += count;
    }
    std::vector<Value> values(all);
    const auto left = [](std::size_t count, std::size_t from) {
        return std::min<std::size_t>(Chunk().size(), count - std::min(from, count));
    };
    for (std::size_t from = 0; from < *std::max_element(counts.begin(), counts.end());
         from += size) {
        Chunk chunk{};
        std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(std::min(from, mine.size())),
                    left(mine.size(), from), chunk.begin());
        const std::vector<Chunk> chunks = communicator.all_gather(chunk);
        for (std::size_t rank = 0; rank < counts.size(); ++rank)
            std::copy_n(chunks[rank].begin(), left(counts[rank], from),
                        values.begin() + static_cast<std::ptrdiff_t>(places[rank] +
                                                                     std::min(from, counts[rank])));
    }
    return values;
}

} // namespace sextant::registration
