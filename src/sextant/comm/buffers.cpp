// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/buffers.hpp"

#include <algorithm>
#include <vector>

namespace sextant {

namespace {

constexpr Bytes line = 64;

bool is_own(const BufferSpec& buffer) {
    return buffer.role == Role::scratch || buffer.role == Role::output;
}

Bytes lines_of(const Program& program, const BufferAddresses& places, std::size_t b) {
    const Bytes bytes = program.buffers[b].size * places.element_size(static_cast<int>(b));
    return is_own(program.buffers[b]) ? (bytes + line - 1) / line * line : 0;
}

} // namespace

void Workspace::make_scratch(const Communicator& communicator, Bytes size) {
    if (scratch.size() >= size)
        return;
    scratch = {}; // free the old memory first, in case memory is short
    scratch = communicator.memory(size);
    ++version;
}

void Workspace::make_rooms(Bytes size) {
    if (rooms.size() >= size)
        return;
    rooms = {};
    rooms = Memory(size);
    ++version;
}

std::vector<Bytes> own_offsets(const Program& program, const BufferAddresses& places) {
    std::vector<Bytes> offsets;
    Bytes size = 0;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        offsets.push_back(is_own(program.buffers[b]) ? size : -1);
        size += lines_of(program, places, b);
    }
    return offsets;
}

Bytes own_bytes(const Program& program, const BufferAddresses& places) {
    Bytes size = 0;
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        size += lines_of(program, places, b);
    return size;
}

void touch_spared(const Program& program, const Loans& loans, const Communicator& communicator,
                  const BufferAddresses& places) {
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
