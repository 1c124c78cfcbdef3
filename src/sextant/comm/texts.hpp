// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <cstring>
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

/// Everyone's values, any number of each rank, one after another in rank order, on every rank.
/// Collective.
/// Cost      as of texts.
template <class Value>
std::vector<Value> all_gather_lists(const Communicator& communicator, std::span<const Value> mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> all;
    const std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size_bytes());
    for (const std::string& text : all_gather_texts(communicator, bytes)) {
        const std::size_t before = all.size();
        all.resize(before + text.size() / sizeof(Value));
        if (!text.empty())
            std::memcpy(all.data() + before, text.data(), text.size());
    }
    return all;
}

} // namespace sextant
