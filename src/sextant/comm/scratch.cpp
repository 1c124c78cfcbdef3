// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/scratch.hpp"

#include <algorithm>
#include <vector>

namespace sextant {

Memory allocate_scratch(const Program& program, const Communicator& communicator, Places& places) {
    constexpr Bytes line = 64;
    const auto ours = [&](std::size_t b) {
        const Role role = program.buffers[b].role;
        return role == Role::scratch || role == Role::output;
    };
    std::vector<Bytes> offsets;
    Bytes size = 0;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        offsets.push_back(size);
        const Bytes bytes = program.buffers[b].size * places.element_size(static_cast<int>(b));
        if (ours(b))
            size += (bytes + line - 1) / line * line;
    }
    Memory memory = communicator.memory(size);
    for (std::size_t b = 0; b < offsets.size(); ++b) {
        if (ours(b))
            places.bind(static_cast<int>(b), memory.data() + offsets[b]);
    }
    return memory;
}

void touch_spared(const Program& program, const Loans& loans, const Communicator& communicator,
                  const Places& places) {
    if (!communicator.shares_memory() && !communicator.shares_nodes())
        return;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const Region& to = program.steps[s].to;
        const bool spared =
            program.steps[s].verb == Verb::fold && loans.taker(static_cast<int>(s)) >= 0;
        if (!spared || !places.base(to.buffer))
            continue;
        const Blocks blocks = places.blocks(to);
        for (Elements b = 0; b < blocks.count; ++b)
            std::fill_n(blocks.base + b * blocks.stride, blocks.length, std::byte{0});
    }
}

} // namespace sextant
