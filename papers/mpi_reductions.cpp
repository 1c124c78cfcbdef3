// SPDX-License-Identifier: BSD-3-Clause
#include "papers/mpi_reductions.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <array>

namespace sextant::papers {

namespace {

/// The parts of a vector, with one block per rank, that two partners exchange: the blocks of all
/// ranks outside the partners' subtrees, which are `trees` ranks from `first` on, and the block of
/// rank `whose`.
std::array<Region, 3> in_use(const Region& vector, Elements a_block, int first, int trees,
                             int whose) {
    const Elements begin = first * a_block, end = (first + trees) * a_block;
    return {block(vector.buffer, 0, begin), block(vector.buffer, whose * a_block, a_block),
            block(vector.buffer, end, vector.length - end)};
}

/// Folds this rank's operand and the received operand into `to`, the lower rank's operand first.
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

Program halving_doubling_allreduce(Elements elements, int ranks, int rank) {
    ProgramBuilder builder;
    const Region own = builder.input(elements), whole = builder.output(elements);
    Region sum = own;
    int round = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
        const int partner = rank ^ distance, half = rank < partner ? 0 : 1;
        const Region kept = part(sum, half, 2);
        const Region come = builder.scratch(kept.length);
        builder.round(round++);
        builder.send(partner, part(sum, 1 - half, 2));
        builder.receive(partner, come);
        const Region next = block(whole.buffer, kept.offset, kept.length);
        fold_in_order(builder, next, kept, come, rank < partner);
        sum = next;
    }
    for (int distance = ranks / 2; distance > 0; distance /= 2) {
        const int partner = rank ^ distance;
        // Partners hold neighbouring parts, and the lower rank holds the lower part.
        const Elements other = rank < partner ? sum.offset + sum.length : sum.offset - sum.length;
        builder.round(round++);
        builder.send(partner, sum);
        builder.receive(partner, block(whole.buffer, other, sum.length));
        sum = block(whole.buffer, std::min(sum.offset, other), 2 * sum.length);
    }
    return builder.finish(whole);
}

Program recursive_doubling_reduce_scatter(Elements elements, int ranks, int rank) {
    const Elements a_block = elements / ranks;
    ProgramBuilder builder;
    Region sum = builder.input(elements);
    for (int round = 0, distance = 1; distance < ranks; ++round, distance *= 2) {
        const int partner = rank ^ distance;
        const int both = rank & -2 * distance; // first rank of both partners' subtrees
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
    // All receives use one buffer, so each receive waits until the previous block has been
    // combined.
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

} // namespace sextant::papers
