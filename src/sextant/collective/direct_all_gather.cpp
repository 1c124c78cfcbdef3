// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/direct_all_gather.hpp"

#include "sextant/collective/tile_range.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

Program direct_all_gather(const Grid& grid, int rank) {
    const int p = grid.ranks();
    const TileRange all(grid, 0, p);
    ProgramBuilder builder;
    const Region own = builder.input(tile(grid, rank).elements());
    const Region image = builder.output(all.elements());
    for (int distance = 1; distance < p; ++distance) {
        const int from = (rank - distance + p) % p;
        builder.send((rank + distance) % p, own);
        builder.receive(from, all.region_of(grid, from, image.buffer));
    }
    builder.copy(all.region_of(grid, rank, image.buffer), own);
    return builder.finish(image);
}

} // namespace sextant::collective
