// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/flat_scatter.hpp"

#include "sextant/collective/tile_range.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

Program flat_scatter(const Grid& grid, int rank) {
    ProgramBuilder builder;
    if (rank > 0) {
        const Region own = builder.scratch(tile(grid, rank).elements());
        builder.receive(0, own);
        return builder.finish(own);
    }
    const Region image = builder.input(grid.width * grid.height);
    const TileRange all(grid, 0, grid.ranks());
    for (int to = 1; to < grid.ranks(); ++to)
        builder.send(to, all.region_of(grid, to, image.buffer));
    return builder.finish(all.region_of(grid, 0, image.buffer));
}

} // namespace sextant::collective
