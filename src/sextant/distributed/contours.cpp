// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/contours.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/contour/list_sizes.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/merge_lists.hpp"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

namespace {

using contour::Boundary;
using contour::Crossing;
using kernel::Chain;

void check(const Communicator& communicator, const Grid& grid) {
    if (grid.ranks() != communicator.size())
        throw InvalidTask(fmt::format("{}x{} tiles on {} ranks, expected one a rank", grid.columns,
                                      grid.rows, communicator.size()));
}

/// Where a chain that leaves the tile goes on and ends.
const Crossing& continuation(std::span<const Crossing> crossings, const Chain& chain) {
    const Crossing* const found = contour::find(crossings, chain.end);
    if (!found)
        throw std::logic_error(fmt::format("no tile knows of a contour at pixel {}", chain.end));
    return *found;
}

std::int32_t checked(Elements links, Elements head) {
    constexpr Elements most = std::numeric_limits<std::int32_t>::max() - 1;
    if (links > most)
        throw InvalidTask(fmt::format("the contour that ends at pixel {} has {} links, expected at "
                                      "most {}",
                                      head, links, most));
    return static_cast<std::int32_t>(links);
}

/// A chain that holds the smallest pixel of its closed contour counts on from there once round.
void place(const Chain& chain, const Crossing& next, Elements& head, kernel::Placing& placing) {
    checked(chain.points + next.links, next.end);
    placing.beyond = checked(next.links, next.end);
    if (next.end == chain.smallest)
        placing.period = checked(chain.links + next.links, next.end);
    head = next.end;
}

} // namespace

Boundary boundary_of(const kernel::ContourRanking& ranking, int position) {
    Boundary boundary{{position, position + 1}, {}};
    for (const kernel::Entry& entry : ranking.entries()) {
        const Chain& chain = ranking.chains()[static_cast<std::size_t>(entry.chain)];
        boundary.entries.push_back({entry.pixel, entry.before, chain.end, entry.links,
                                    chain.smallest, entry.links - chain.links});
    }
    boundary.entries = contour::follow({&boundary, 1});
    return boundary;
}

ContoursOfTile place_chains(const kernel::ContourRanking& ranking,
                            std::span<const Crossing> crossings) {
    ContoursOfTile made{{}, ranking.placings()};
    for (std::size_t i = 0; i < made.placings.size(); ++i) {
        const Chain& chain = ranking.chains()[i];
        made.heads.push_back(chain.end);
        if (chain.leaves)
            place(chain, continuation(crossings, chain), made.heads.back(), made.placings[i]);
    }
    return made;
}

ContoursOfTile merge_contours(const Communicator& communicator, const Grid& grid,
                              const kernel::ContourRanking& ranking,
                              const contour::Pattern& pattern, MergingRecord* record) {
    Boundary own;
    agree(communicator, [&] {
        check(communicator, grid);
        const contour::Order order(grid, pattern.stages(grid));
        own = boundary_of(ranking, order.position(communicator.rank()));
    });
    const contour::Order order(grid, pattern.stages(grid));
    const std::vector<Boundary> lists = merge_lists<Crossing>(
        communicator, grid, own, pattern,
        [&order](std::span<const Boundary> some) { return contour::merge(order, some); },
        [&order](contour::Run run) { return contour::most_on_border(order, run); }, record);
    ContoursOfTile made;
    agree(communicator, [&] { made = place_chains(ranking, contour::follow(lists)); });
    return made;
}

} // namespace sextant
