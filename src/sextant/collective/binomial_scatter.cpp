// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/binomial_scatter.hpp"

#include "sextant/collective/binomial_tree.hpp"
#include "sextant/collective/tile_range.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

Program binomial_scatter(const Grid& grid, int rank) {
    const BinomialTree tree{grid.ranks()};
    const int reach = tree.reach(rank);
    const TileRange range(grid, rank, rank + reach);

    ProgramBuilder builder;
    const Region held =
        rank == 0 ? builder.input(range.elements()) : builder.scratch(range.elements());
    if (rank > 0) {
        builder.round(tree.level(reach));
        builder.receive(rank - reach, held);
    }
    for (int distance = reach / 2; distance >= 1; distance /= 2) {
        const TileRange given(grid, rank + distance, rank + 2 * distance);
        builder.round(tree.level(distance));
        builder.send(rank + distance, range.regions_of(given, held.buffer));
    }
    return builder.finish(range.region_of(grid, rank, held.buffer));
}

} // namespace sextant::collective
