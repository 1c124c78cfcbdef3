// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/mpi_reductions.hpp"

#include "sextant/schedule/builder.hpp"

#include <array>

namespace sextant::reproduce {

namespace {

/// Of a vector in blocks, one a rank: those before and behind the blocks of `trees` ranks from
/// `first` on, and the block of one of these.
std::array<Region, 3> in_use(const Region& vector, Elements a_block, int first, int trees,
                             int whose) {
    const Elements begin = first * a_block, end = (first + trees) * a_block;
    return {block(vector.buffer, 0, begin), block(vector.buffer, whose * a_block, a_block),
            block(vector.buffer, end, vector.length - end)};
}

/// `to` = lower ⊕ upper, whichever of them is this rank's own.
void fold_in_order(ProgramBuilder& builder, const Region& to, const Region& own, const Region& come,
                   bool own_is_lower) {
    builder.fold(to, {own_is_lower ? own : come, own_is_lower ? come : own});
}

} // namespace

Program recursive_doubling_allreduce(Elements elements, int ranks, int rank) {
    ProgramBuilder builder;
    Region sum = builder.input(elements);
    for (int round = 0, distance = 1; distance < ranks; ++round, distance *= 2) {
        const int partner = rank ^ distance;
        const Region come = builder.scratch(elements), next = builder.scratch(elements);
        builder.round(round);
        builder.send(partner, sum);
        builder.receive(partner, come);
        fold_in_order(builder, next, sum, come, rank < partner);
        sum = next;
    }
    return builder.finish(sum);
}

Program recursive_doubling_reduce_scatter(Elements elements, int ranks, int rank) {
    const Elements a_block = elements / ranks;
    ProgramBuilder builder;
    Region sum = builder.input(elements);
    for (int round = 0, distance = 1; distance < ranks; ++round, distance *= 2) {
        const int partner = rank ^ distance;
        const int both = rank & -2 * distance; // the first of this rank's tree and the partner's
        const Region come = builder.scratch(elements), next = builder.scratch(elements);
        const auto given = in_use(sum, a_block, both, 2 * distance, partner);
        const auto taken = in_use(come, a_block, both, 2 * distance, rank);
        builder.round(round);
        builder.send(partner, given);
        builder.receive(partner, taken);
        const auto own = in_use(sum, a_block, both, 2 * distance, rank);
        const auto made = in_use(next, a_block, both, 2 * distance, rank);
        for (std::size_t part = 0; part < made.size(); ++part)
            fold_in_order(builder, made[part], own[part], taken[part], rank < partner);
        sum = next;
    }
    return builder.finish(block(sum.buffer, rank * a_block, a_block));
}

Program pairwise_reduce_scatter(Elements elements, int ranks, int rank) {
    const Elements a_block = elements / ranks;
    ProgramBuilder builder;
    const Region own = builder.input(elements);
    // One place for all that comes: the next exchange waits until it has been combined.
    const Region come = builder.scratch(a_block), sum = builder.output(a_block);
    Region so_far = block(own.buffer, rank * a_block, a_block);
    builder.window(1);
    for (int step = 1; step < ranks; ++step) {
        const int to = (rank + step) % ranks;
        builder.round(step - 1);
        builder.send(to, block(own.buffer, to * a_block, a_block));
        builder.receive((rank + ranks - step) % ranks, come);
        builder.fold(sum, {so_far, come});
        so_far = sum;
    }
    return builder.finish(so_far);
}

} // namespace sextant::reproduce
