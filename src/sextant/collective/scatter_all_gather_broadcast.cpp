// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/scatter_all_gather_broadcast.hpp"

#include "sextant/collective/binomial_scatter.hpp"
#include "sextant/collective/binomial_tree.hpp"
#include "sextant/collective/ring_all_gather.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::collective {

Program scatter_all_gather_broadcast(const Grid& grid, int rank) {
    const Elements pixels = grid.width * grid.height;
    const Grid parts = strips(grid.ranks(), pixels);
    const Program scatter = binomial_scatter(parts, rank);
    ProgramBuilder builder;
    const Region own =
        rank == 0 ? builder.run(scatter, {builder.input(pixels)}) : builder.run(scatter, {});
    builder.round(BinomialTree{grid.ranks()}.level(1) + 1);
    return builder.finish(builder.run(ring_all_gather(parts, rank), {own, builder.output(pixels)}));
}

} // namespace sextant::collective
