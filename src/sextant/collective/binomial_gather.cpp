// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/binomial_gather.hpp"

#include "sextant/collective/binomial_tree.hpp"
#include "sextant/collective/tile_range.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

namespace {

/// Takes in what the children have; everything then lies in `held`.
void collect(ProgramBuilder& builder, const Grid& grid, int rank, const Region& held) {
    const BinomialTree tree{grid.ranks()};
    const int reach = tree.reach(rank);
    const TileRange range(grid, rank, rank + reach);
    for (int distance = 1; distance < reach; distance *= 2) {
        const TileRange taken(grid, rank + distance, rank + 2 * distance);
        builder.round(tree.level(1) - tree.level(distance));
        builder.receive(rank + distance, range.regions_of(taken, held.buffer));
    }
}

} // namespace

Program binomial_gather(const Grid& grid, int rank) {
    const BinomialTree tree{grid.ranks()};
    const int reach = tree.reach(rank);
    const TileRange range(grid, rank, rank + reach);

    ProgramBuilder builder;
    const Region own = builder.input(tile(grid, rank).elements());
    Region held = own;
    if (rank == 0 || range.elements() > own.length) {
        held = rank == 0 ? builder.output(range.elements()) : builder.scratch(range.elements());
        collect(builder, grid, rank, held);
        if (!own.empty())
            builder.copy(range.region_of(grid, rank, held.buffer), own);
    }
    if (rank == 0)
        return builder.finish(held);
    builder.round(tree.level(1) - tree.level(reach));
    builder.send(rank - reach, held);
    return builder.finish({});
}

} // namespace sextant::collective
