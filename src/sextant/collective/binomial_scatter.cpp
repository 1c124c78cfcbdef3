// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/binomial_scatter.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <bit>

namespace sextant::collective {

Program binomial_scatter(int ranks, Elements elements, int rank) {
    const auto start_of = [&](int r) { return elements * std::min(r, ranks) / ranks; };
    // A rank heads the subtree [rank, rank + reach): its lowest set bit, or everything for the
    // root.
    const auto whole = static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks)));
    const int reach = rank == 0 ? whole : rank & -rank;
    const auto round_of = [&](int distance) {
        return std::countr_zero(static_cast<unsigned>(whole / distance)) - 1;
    };

    ProgramBuilder builder;
    const Elements first = start_of(rank), last = start_of(rank + reach);
    const Region held = rank == 0 ? builder.input(elements) : builder.scratch(last - first);
    if (rank > 0) {
        builder.round(round_of(reach));
        builder.receive(rank - reach, held);
    }
    for (int distance = reach / 2; distance >= 1; distance /= 2) {
        if (rank + distance >= ranks)
            continue;
        const Elements from = start_of(rank + distance), to = start_of(rank + 2 * distance);
        builder.round(round_of(distance));
        builder.send(rank + distance, block(held.buffer, from - first, to - from));
    }
    return builder.finish(block(held.buffer, 0, start_of(rank + 1) - first));
}

} // namespace sextant::collective
