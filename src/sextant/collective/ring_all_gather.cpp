// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/ring_all_gather.hpp"

#include "sextant/collective/tile_range.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

Program ring_all_gather(const Grid& grid, int rank) {
    const int p = grid.ranks(), next = (rank + 1) % p, previous = (rank - 1 + p) % p;
    const TileRange all(grid, 0, p);
    ProgramBuilder builder;
    const Region own = builder.input(tile(grid, rank).elements());
    const Region image = builder.output(all.elements());
    const auto place = [&](int round) {
        return all.region_of(grid, (rank - round + p) % p, image.buffer);
    };
    for (int round = 0; round < p - 1; ++round) {
        builder.round(round);
        builder.send(next, round == 0 ? own : place(round));
        builder.receive(previous, place(round + 1));
    }
    builder.copy(place(0), own);
    return builder.finish(image);
}

} // namespace sextant::collective
