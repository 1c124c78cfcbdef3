// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/scatter_gather.hpp"

#include "sextant/collective/tiles.hpp"
#include "sextant/schedule/builder.hpp"

#include <bit>
#include <numeric>

namespace sextant::collective {

int BinomialTree::reach(int rank) const {
    return rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) : rank & -rank;
}

int BinomialTree::level(int distance) const {
    return std::countr_zero(static_cast<unsigned>(reach(0) / distance)) - 1;
}

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

Program linear_gather(std::span<const Elements> counts, int rank) {
    ProgramBuilder builder;
    const Region own = builder.input(counts[static_cast<std::size_t>(rank)]);
    if (rank > 0) {
        builder.send(0, own);
        return builder.finish({});
    }
    const Region all = builder.output(std::accumulate(counts.begin(), counts.end(), Elements{0}));
    Elements first = own.length;
    for (int from = 1; from < static_cast<int>(counts.size()); ++from) {
        const Elements count = counts[static_cast<std::size_t>(from)];
        builder.receive(from, block(all.buffer, first, count));
        first += count;
    }
    builder.copy(block(all.buffer, 0, own.length), own);
    return builder.finish(all);
}

namespace {

/// Receives the tiles of the children into `held`.
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
