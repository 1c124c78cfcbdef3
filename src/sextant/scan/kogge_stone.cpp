// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/kogge_stone.hpp"

#include "sextant/schedule/builder.hpp"

namespace sextant::scan {

Program kogge_stone(int ranks, Elements elements, int rank) {
    ProgramBuilder builder;
    Region value = builder.input(elements);
    int round = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
        builder.round(round++);
        if (rank + distance < ranks)
            builder.send(rank + distance, value);
        if (rank - distance < 0)
            continue;
        const Region before = builder.scratch(elements);
        builder.receive(rank - distance, before);
        builder.fold(before, {before, value});
        value = before;
    }
    return builder.finish(value);
}

} // namespace sextant::scan
