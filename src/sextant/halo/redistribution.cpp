// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/redistribution.hpp"

#include "sextant/core/error.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::halo {

namespace {

/// The tile of the old grid in the coordinates of the new grid, whose window may begin after the
/// old first row or plane.
Tile tile_before(const sextant::Grid& from, const Grid& to, int rank) {
    Tile own = tile(from, rank);
    own.y -= to.above, own.z -= to.before;
    return own;
}

/// The symbol of pixel e of a tile, row by row, in the coordinates of the new grid.
Symbol pixel(const Grid& to, const Tile& tile, Elements e) {
    const Tile at_hand = to.at_hand();
    const Elements x = tile.x + e % tile.width, row = e / tile.width;
    const Elements y = tile.y + row % tile.height - at_hand.y;
    const Elements z = tile.z + row / tile.height - at_hand.z;
    return {(z * at_hand.height + y) * to.width + x, 0, 1, 0};
}

void check(const sextant::Grid& from, const Grid& to) {
    const Tile at_hand = to.at_hand();
    if (from.width == at_hand.width && from.height == at_hand.height && from.depth == at_hand.depth)
        return;
    const auto text = [&](Elements width, Elements height, Elements depth) {
        const bool is_volume = from.depth > 1 || at_hand.depth > 1;
        return fmt::format("{}x{}{}", width, height, is_volume ? fmt::format("x{}", depth) : "");
    };
    throw InvalidTask(fmt::format("cannot redistribute {} pixels to tiles of {}",
                                  text(from.width, from.height, from.depth),
                                  text(at_hand.width, at_hand.height, at_hand.depth)));
}

} // namespace

Program redistribution(const sextant::Grid& from, const Grid& to, int rank) {
    check(from, to);
    const int ranks = std::max(from.ranks(), to.ranks());
    const Tile had = tile_before(from, to, rank), held = clipped_tile(to, rank);
    ProgramBuilder builder;
    const Region before = builder.input(had.elements()), after = builder.output(held.elements());
    // Each rank sends to its successor first, so that ranks start with different partners.
    for (int distance = 1; distance < ranks; ++distance) {
        const int next = (rank + distance) % ranks, last = (rank + ranks - distance) % ranks;
        const Tile sent = common(had, clipped_tile(to, next));
        const Tile received = common(tile_before(from, to, last), held);
        builder.send(next, places_in(had, sent, before.buffer));
        builder.receive(last, places_in(held, received, after.buffer));
    }
    const Tile kept = common(had, held);
    add_copy(builder, kept, held, after, had, before);
    return builder.finish(after);
}

Claim redistribution_claim(const sextant::Grid& from, const Grid& to) {
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        return pixel(to, tile_before(from, to, rank), e);
    };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) -> std::string {
        const Tile held = clipped_tile(to, rank);
        if (static_cast<Elements>(result.size()) != held.elements())
            return fmt::format("{} elements, expected {}", result.size(), held.elements());
        for (Elements e = 0; e < held.elements(); ++e) {
            const Symbol expected = pixel(to, held, e);
            const Symbol& found = result[static_cast<std::size_t>(e)];
            if (!found.same_value(expected))
                return fmt::format("element {} is pixel {}, expected {}", e, found.element,
                                   expected.element);
        }
        return "";
    };
    return claim;
}

} // namespace sextant::halo
