// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/texts.hpp"

#include <algorithm>
#include <array>

namespace sextant {

std::vector<std::string> all_gather_texts(const Communicator& communicator,
                                          const std::string& mine) {
    using Block = std::array<char, 1024>;
    const std::vector<std::size_t> sizes = communicator.all_gather(mine.size());
    const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
    std::vector<std::string> texts(sizes.size());
    for (std::size_t from = 0; from < longest; from += Block().size()) {
        Block block{};
        if (from < mine.size())
            mine.copy(block.data(), block.size(), from);
        const std::vector<Block> blocks = communicator.all_gather(block);
        for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
            const std::size_t left = sizes[rank] - texts[rank].size();
            texts[rank].append(blocks[rank].data(), std::min(left, block.size()));
        }
    }
    return texts;
}

} // namespace sextant
