// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/linear_gather.hpp"

#include "sextant/schedule/builder.hpp"

#include <numeric>

namespace sextant::collective {

Program linear_gather(std::span<const Elements> counts, int rank) {
    ProgramBuilder builder;
    const Region own = builder.input(counts[static_cast<std::size_t>(rank)]);
    if (rank > 0) {
        builder.send(0, own);
        return builder.finish({});
    }
    const Region all = builder.output(std::accumulate(counts.begin(), counts.end(), Elements{0}));
    Elements first = own.length;
    for (int from = 1; from < static_cast<int>(counts.size()); ++from) {
        const Elements count = counts[static_cast<std::size_t>(from)];
        builder.receive(from, block(all.buffer, first, count));
        first += count;
    }
    builder.copy(block(all.buffer, 0, own.length), own);
    return builder.finish(all);
}

} // namespace sextant::collective
