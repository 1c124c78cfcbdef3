// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/reductions.hpp"

#include "sextant/collective/scatter_gather.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <vector>

namespace sextant::collective {

Program direct_reduce_scatter(const Partition& data, int rank) {
    const int p = data.ranks();
    const PackedTiles all(data);
    ProgramBuilder builder;
    const Region input = builder.input(data.elements());
    std::vector<Region> operands(static_cast<std::size_t>(p), all.region_of(rank, input.buffer));
    for (int distance = 1; distance < p; ++distance) {
        const int to = (rank + distance) % p, from = (rank - distance + p) % p;
        builder.send(to, all.region_of(to, input.buffer));
        Region& operand = operands[static_cast<std::size_t>(from)];
        operand = builder.scratch(data.elements(rank));
        builder.receive(from, operand);
    }
    const Region own = builder.output(data.elements(rank));
    builder.fold(own, operands);
    return builder.finish(own);
}

Program ring_reduce_scatter(const Partition& data, int rank) {
    const int p = data.ranks(), next = (rank + 1) % p, previous = (rank - 1 + p) % p;
    const PackedTiles all(data);
    ProgramBuilder builder;
    const Region input = builder.input(data.elements());
    const auto block_of = [&](int round) { return (rank - 1 - round + 2 * p) % p; };
    Elements longest = 0;
    for (int each = 0; each < p; ++each)
        longest = std::max(longest, data.elements(each));
    // Partial results alternate between two buffers, so that one is received while another is sent.
    const int buffers[] = {builder.scratch(longest).buffer, builder.scratch(longest).buffer};
    Region partial = all.region_of(block_of(0), input.buffer);
    for (int round = 0; round < p - 1; ++round) {
        builder.round(round);
        builder.send(next, partial);
        const Region operand = all.region_of(block_of(round + 1), input.buffer);
        partial = block(buffers[round % 2], 0, operand.elements());
        builder.receive(previous, partial);
        if (round < p - 2)
            builder.fold(partial, {partial, operand});
    }
    const Region own = all.region_of(rank, input.buffer);
    const Region result = builder.output(own.elements());
    if (p == 1)
        builder.copy(result, own);
    else
        builder.fold(result, {partial, own});
    return builder.finish(result);
}

Program ring_all_reduce(const Partition& data, int rank) {
    const Elements elements = data.elements();
    const Partition parts = strips(data.ranks(), elements);
    ProgramBuilder builder;
    const Region own = builder.run(ring_reduce_scatter(parts, rank),
                                   {builder.input(elements), builder.output(parts.elements(rank))});
    builder.round(data.ranks() - 1);
    return builder.finish(
        builder.run(ring_all_gather(parts, rank), {own, builder.output(elements)}));
}

} // namespace sextant::collective
