// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/core/error.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::halo {

Tile padded_tile(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank);
    return {own.x - grid.margin, own.y - grid.margin, own.width + 2 * grid.margin,
            own.height + 2 * grid.margin};
}

Tile clipped_tile(const Grid& grid, int rank) {
    const Tile padded = padded_tile(grid, rank);
    const Elements left = std::max<Elements>(0, padded.x);
    const Elements top = std::max<Elements>(0, padded.y);
    return {left, top, std::min(grid.width, padded.x + padded.width) - left,
            std::min(grid.height, padded.y + padded.height) - top};
}

namespace {

/// The strip of a tile's edge that goes to a neighbour (`sent`), or the strip of margin where the
/// neighbour's comes in; along one axis of length `size`, towards direction −1, 0 or 1.
struct Span {
    Elements first, length;
};

Span sent(Elements size, Elements margin, int direction) {
    if (direction == 0)
        return {0, size};
    return {direction > 0 ? size - margin : 0, margin};
}

Span received(Elements size, Elements margin, int direction) {
    if (direction == 0)
        return {0, size};
    return {direction > 0 ? size : -margin, margin};
}

} // namespace

void check_margin(const Grid& grid) {
    const Elements narrowest = grid.width / grid.columns, lowest = grid.height / grid.rows;
    if (narrowest < grid.margin || lowest < grid.margin) {
        throw InvalidTask(fmt::format(
            "{}x{} tiles of {}x{} pixels: the smallest is {}x{}, less than "
            "the margin of {}",
            grid.columns, grid.rows, grid.width, grid.height, narrowest, lowest, grid.margin));
    }
}

Program exchange(const Grid& grid, int rank) {
    check_margin(grid);
    const Tile own = tile(grid, rank);
    const Elements margin = grid.margin, pitch = own.width + 2 * margin;
    ProgramBuilder builder;
    const Region all = builder.in_out(pitch * (own.height + 2 * margin));
    const auto strip = [&](Span x, Span y) {
        const Elements start = (y.first + margin) * pitch + x.first + margin;
        return Region{all.buffer, start, x.length, pitch, y.length};
    };
    const int i = rank % grid.columns, j = rank / grid.columns;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            const bool inside =
                i + dx >= 0 && i + dx < grid.columns && j + dy >= 0 && j + dy < grid.rows;
            if ((dx == 0 && dy == 0) || !inside)
                continue;
            const int neighbour = (j + dy) * grid.columns + i + dx;
            builder.send(neighbour,
                         strip(sent(own.width, margin, dx), sent(own.height, margin, dy)));
            builder.receive(neighbour, strip(received(own.width, margin, dx),
                                             received(own.height, margin, dy)));
        }
    }
    return builder.finish(all);
}

} // namespace sextant::halo
