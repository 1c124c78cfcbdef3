// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/texts.hpp"

#include <algorithm>
#include <array>

namespace sextant {

namespace {

/// All texts, `size` bytes of each at a time.
template <std::size_t size>
std::vector<std::string> gathered(const Communicator& communicator, const std::string& mine,
                                  const std::vector<std::size_t>& sizes) {
    using Block = std::array<char, size>;
    const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
    std::vector<std::string> texts(sizes.size());
    for (std::size_t from = 0; from < longest; from += size) {
        Block block{};
        if (from < mine.size())
            mine.copy(block.data(), block.size(), from);
        const std::vector<Block> blocks = communicator.all_gather(block);
        for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
            const std::size_t left = sizes[rank] - texts[rank].size();
            texts[rank].append(blocks[rank].data(), std::min(left, size));
        }
    }
    return texts;
}

} // namespace

std::vector<std::string> all_gather_texts(const Communicator& communicator,
                                          const std::string& mine) {
    constexpr std::size_t little = 1 << 10, much = 1 << 14;
    const std::vector<std::size_t> sizes = communicator.all_gather(mine.size());
    const bool long_ones = *std::max_element(sizes.begin(), sizes.end()) > little;
    return long_ones ? gathered<much>(communicator, mine, sizes)
                     : gathered<little>(communicator, mine, sizes);
}

} // namespace sextant
