// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/scatter_gather.hpp"

#include "sextant/collective/tiles.hpp"
#include "sextant/schedule/builder.hpp"

#include <bit>

namespace sextant::collective {

int BinomialTree::reach(int rank) const {
    return rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) : rank & -rank;
}

int BinomialTree::level(int distance) const {
    return std::countr_zero(static_cast<unsigned>(reach(0) / distance)) - 1;
}

Program flat_scatter(const Partition& data, int rank) {
    ProgramBuilder builder;
    if (rank > 0) {
        const Region own = builder.scratch(data.elements(rank));
        builder.receive(0, own);
        return builder.finish(own);
    }
    const Region whole = builder.input(data.elements());
    const PackedTiles all(data);
    for (int to = 1; to < data.ranks(); ++to)
        builder.send(to, all.region_of(to, whole.buffer));
    return builder.finish(all.region_of(0, whole.buffer));
}

namespace {

/// The tiles of all ranks in a rank's subtree of the binomial tree; on rank 0, all tiles.
PackedTiles subtree(const Partition& data, int rank) {
    return rank == 0 ? PackedTiles(data)
                     : PackedTiles(data, rank, rank + BinomialTree{data.ranks()}.reach(rank));
}

} // namespace

Program binomial_scatter(const Partition& data, int rank) {
    const BinomialTree tree{data.ranks()};
    const int reach = tree.reach(rank);
    const PackedTiles range = subtree(data, rank);

    ProgramBuilder builder;
    const Region held =
        rank == 0 ? builder.input(range.elements()) : builder.scratch(range.elements());
    if (rank > 0) {
        builder.round(tree.level(reach));
        builder.receive(rank - reach, held);
    }
    for (int distance = reach / 2; distance >= 1; distance /= 2) {
        const PackedTiles given(data, rank + distance, rank + 2 * distance);
        builder.round(tree.level(distance));
        builder.send(rank + distance, range.regions_of(given, held.buffer));
    }
    return builder.finish(range.region_of(rank, held.buffer));
}

Program flat_gather(const Partition& data, int rank) {
    ProgramBuilder builder;
    const Region own = builder.input(data.elements(rank));
    if (rank > 0) {
        builder.send(0, own);
        return builder.finish({});
    }
    const Region whole = builder.output(data.elements());
    const PackedTiles all(data);
    for (int from = 1; from < data.ranks(); ++from)
        builder.receive(from, all.region_of(from, whole.buffer));
    if (!own.empty())
        builder.copy(all.region_of(0, whole.buffer), own);
    return builder.finish(whole);
}

namespace {

/// Receives the tiles of the children into `held`.
void collect(ProgramBuilder& builder, const Partition& data, int rank, const Region& held) {
    const BinomialTree tree{data.ranks()};
    const int reach = tree.reach(rank);
    const PackedTiles range = subtree(data, rank);
    for (int distance = 1; distance < reach; distance *= 2) {
        const PackedTiles taken(data, rank + distance, rank + 2 * distance);
        builder.round(tree.level(1) - tree.level(distance));
        builder.receive(rank + distance, range.regions_of(taken, held.buffer));
    }
}

} // namespace

Program binomial_gather(const Partition& data, int rank) {
    const BinomialTree tree{data.ranks()};
    const int reach = tree.reach(rank);
    const PackedTiles range = subtree(data, rank);

    ProgramBuilder builder;
    const Region own = builder.input(data.elements(rank));
    Region held = own;
    if (rank == 0 || range.elements() > own.length) {
        held = rank == 0 ? builder.output(range.elements()) : builder.scratch(range.elements());
        collect(builder, data, rank, held);
        if (!own.empty())
            builder.copy(range.region_of(rank, held.buffer), own);
    }
    if (rank == 0)
        return builder.finish(held);
    builder.round(tree.level(1) - tree.level(reach));
    builder.send(rank - reach, held);
    return builder.finish({});
}

Program direct_all_gather(const Partition& data, int rank) {
    const int p = data.ranks();
    const PackedTiles all(data);
    ProgramBuilder builder;
    const Region own = builder.input(data.elements(rank));
    const Region whole = builder.output(all.elements());
    for (int distance = 1; distance < p; ++distance) {
        const int from = (rank - distance + p) % p;
        builder.send((rank + distance) % p, own);
        builder.receive(from, all.region_of(from, whole.buffer));
    }
    builder.copy(all.region_of(rank, whole.buffer), own);
    return builder.finish(whole);
}

Program ring_all_gather(const Partition& data, int rank) {
    const int p = data.ranks(), next = (rank + 1) % p, previous = (rank - 1 + p) % p;
    const PackedTiles all(data);
    ProgramBuilder builder;
    const Region own = builder.input(data.elements(rank));
    const Region whole = builder.output(all.elements());
    const auto place = [&](int round) {
        return all.region_of((rank - round + p) % p, whole.buffer);
    };
    for (int round = 0; round < p - 1; ++round) {
        builder.round(round);
        builder.send(next, round == 0 ? own : place(round));
        builder.receive(previous, place(round + 1));
    }
    builder.copy(place(0), own);
    return builder.finish(whole);
}

Program scatter_all_gather_broadcast(const Partition& data, int rank) {
    const Elements elements = data.elements();
    const Partition parts = strips(data.ranks(), elements);
    const Program scatter = binomial_scatter(parts, rank);
    ProgramBuilder builder;
    const Region own =
        rank == 0 ? builder.run(scatter, {builder.input(elements)}) : builder.run(scatter, {});
    builder.round(BinomialTree{data.ranks()}.level(1) + 1);
    return builder.finish(
        builder.run(ring_all_gather(parts, rank), {own, builder.output(elements)}));
}

} // namespace sextant::collective
