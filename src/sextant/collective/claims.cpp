// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/claims.hpp"

#include "sextant/collective/tile_range.hpp"

#include <fmt/format.h>

namespace sextant::collective {

namespace {

Region pixels_of(const Grid& grid, const Tile& part) {
    return region_of({0, 0, grid.width, grid.height}, part, 0);
}

Region tile_of(const Grid& grid, int rank) {
    return pixels_of(grid, tile(grid, rank));
}

Region all_of(const Grid& grid) {
    return block(0, 0, grid.width * grid.height);
}

Region at_root(const Grid& grid, int rank) {
    return rank == 0 ? all_of(grid) : Region{};
}

Symbol pixel(Elements number) {
    return {number, 0, 1, 0};
}

std::string judge(const std::vector<Symbol>& result, const Region& wanted) {
    if (static_cast<Elements>(result.size()) != wanted.elements())
        return fmt::format("{} elements, expected {}", result.size(), wanted.elements());
    for (Elements e = 0; e < wanted.elements(); ++e) {
        const Symbol &is = result[static_cast<std::size_t>(e)], should_be = pixel(wanted.at(e));
        if (!is.same_value(should_be)) {
            return fmt::format("element {} holds pixel {}, expected {}", e, is.element,
                               should_be.element);
        }
    }
    return "";
}

} // namespace

Region pixels_before(Collective collective, const Grid& grid, int rank) {
    switch (collective) {
    case Collective::broadcast:
    case Collective::scatter:
        return at_root(grid, rank);
    case Collective::gather:
    case Collective::all_gather:
        return tile_of(grid, rank);
    case Collective::all_to_all:
        return tile_of({grid.width, grid.height, 1, grid.ranks()}, rank);
    }
    return {};
}

Region pixels_after(Collective collective, const Grid& grid, int rank) {
    switch (collective) {
    case Collective::broadcast:
    case Collective::all_gather:
        return all_of(grid);
    case Collective::scatter:
        return tile_of(grid, rank);
    case Collective::gather:
        return at_root(grid, rank);
    case Collective::all_to_all:
        return tile_of({grid.width, grid.height, grid.ranks(), 1}, rank);
    }
    return {};
}

Claim claim_of(Collective collective, const Grid& grid) {
    return {[=](int rank, int, Elements e) {
                return pixel(pixels_before(collective, grid, rank).at(e));
            },
            [=](int rank, const std::vector<Symbol>& result) {
                return judge(result, pixels_after(collective, grid, rank));
            },
            {}};
}

} // namespace sextant::collective
