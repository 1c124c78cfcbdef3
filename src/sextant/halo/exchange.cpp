// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include <algorithm>

namespace sextant::halo {

Tile padded_tile(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank);
    if (own.elements() == 0)
        return own;
    const auto [x, y] = grid.margin;
    return {own.x - x, own.y - y, own.width + 2 * x, own.height + 2 * y};
}

Tile clipped_tile(const Grid& grid, int rank) {
    return common(padded_tile(grid, rank), grid.at_hand());
}

Tile common(const Tile& a, const Tile& b) {
    const Elements left = std::max(a.x, b.x), top = std::max(a.y, b.y);
    const Elements right = std::min(a.x + a.width, b.x + b.width);
    const Elements bottom = std::min(a.y + a.height, b.y + b.height);
    return {left, top, std::max<Elements>(0, right - left), std::max<Elements>(0, bottom - top)};
}

Region place_in(const Tile& held, const Tile& part, int buffer) {
    const Elements start = (part.y - held.y) * held.width + part.x - held.x;
    if (part.width == held.width)
        return block(buffer, start, part.elements());
    return {buffer, start, part.width, held.width, part.height};
}

namespace {

struct Numbers {
    int first, last; ///< one past the last
};

/// The columns of a grid, or its rows, that may lie within a tile's margin.
Numbers within_reach(Elements first, Elements last, Elements size, int parts) {
    const auto holds = [&](Elements at) { // part i begins at size · i / parts
        return static_cast<int>(((std::clamp<Elements>(at, 0, size - 1) + 1) * parts - 1) / size);
    };
    return {holds(first), holds(last - 1) + 1};
}

} // namespace

std::vector<int> peers_of(const Grid& grid, int rank, const Tile& held) {
    std::vector<int> peers;
    if (held.elements() == 0)
        return peers;
    const Numbers columns = within_reach(held.x, held.x + held.width, grid.width, grid.columns);
    const Numbers rows = within_reach(held.y, held.y + held.height, grid.height, grid.rows);
    for (int j = rows.first; j < rows.last; ++j) {
        for (int i = columns.first; i < columns.last; ++i) {
            if (j * grid.columns + i != rank)
                peers.push_back(j * grid.columns + i);
        }
    }
    return peers;
}

void add_exchange(ProgramBuilder& builder, const Grid& grid, int rank, const Region& buffer,
                  Tile (*held_by)(const Grid& grid, int rank)) {
    const Tile own = tile(grid, rank), held = held_by(grid, rank);
    for (const int peer : peers_of(grid, rank, held)) {
        builder.send(peer, place_in(held, common(own, held_by(grid, peer)), buffer.buffer));
        builder.receive(peer, place_in(held, common(tile(grid, peer), held), buffer.buffer));
    }
}

Program exchange(const Grid& grid, int rank) {
    ProgramBuilder builder;
    const Region all = builder.in_out(padded_tile(grid, rank).elements());
    add_exchange(builder, grid, rank, all, padded_tile);
    return builder.finish(all);
}

} // namespace sextant::halo
