// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/flat_gather.hpp"

#include "sextant/collective/tile_range.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

Program flat_gather(const Grid& grid, int rank) {
    ProgramBuilder builder;
    const Region own = builder.input(tile(grid, rank).elements());
    if (rank > 0) {
        builder.send(0, own);
        return builder.finish({});
    }
    const Region image = builder.output(grid.width * grid.height);
    const TileRange all(grid, 0, grid.ranks());
    for (int from = 1; from < grid.ranks(); ++from)
        builder.receive(from, all.region_of(grid, from, image.buffer));
    if (!own.empty())
        builder.copy(all.region_of(grid, 0, image.buffer), own);
    return builder.finish(image);
}

} // namespace sextant::collective
