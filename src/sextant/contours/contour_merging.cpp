// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/contour_merging.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/tiles/list_exchange.hpp"
#include "sextant/tiles/numbering.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

namespace {

using contour::Boundary;
using contour::Crossing;
using kernel::Chain;

/// Returns the crossing at which a chain that leaves the tile continues.
const Crossing& continuation(std::span<const Crossing> crossings, const Chain& chain) {
    const Crossing* const found = contour::find(crossings, chain.end);
    if (!found)
        throw std::logic_error(
            fmt::format("no tile has a contour crossing at pixel {}", chain.end));
    return *found;
}

std::int32_t checked(Elements links, Elements head) {
    constexpr Elements most = std::numeric_limits<std::int32_t>::max() - 1;
    if (links > most)
        throw InvalidData(fmt::format("the contour that ends at pixel {} has {} links, expected at "
                                      "most {}",
                                      head, links, most));
    return static_cast<std::int32_t>(links);
}

/// Computes the head and the placing of a chain that leaves its tile. If a chain contains the
/// smallest pixel of a closed contour, ranks restart there.
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
                              const contour::Pattern& pattern, MergingTrace* record) {
    std::optional<contour::Merger<Crossing>> merger;
    Boundary own;
    agree(communicator, [&] {
        merger = contour::crossing_merger(merging_order(communicator, grid, pattern));
        own = boundary_of(ranking, merger->order.position(communicator.rank()));
    });
    const std::vector<Crossing> joined = join_lists(communicator, pattern, *merger, own, record);
    ContoursOfTile made;
    agree(communicator, [&] { made = place_chains(ranking, joined); });
    return made;
}

namespace {

std::size_t at(Elements i) {
    return static_cast<std::size_t>(i);
}

/// A point and its position in the linear representation.
struct Place {
    Elements position = 0, pixel = 0;
};

/// Returns, for each chain, the range of its contour among all points; the range is empty if the
/// contour is shorter than `min_points`. Collective.
std::vector<ContourLine> lines_of(const Communicator& communicator, const Grid& grid,
                                  const std::vector<Share>& shares, Elements min_points,
                                  Numbering& kept) {
    const Numbering all = number_by_pixels(communicator, grid, shares);
    std::vector<Share> long_ones;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (all.standings[i].weight >= min_points)
            long_ones.push_back(shares[i]);
    }
    kept = min_points > 1 ? number_by_pixels(communicator, grid, long_ones) : all;
    std::vector<ContourLine> lines(shares.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (all.standings[i].weight >= min_points) {
            const Standing& standing = kept.standings[next++];
            lines[i] = {standing.before, standing.weight, false};
        }
    }
    return lines;
}

/// Sends each point to the rank that holds its position. Collective.
void move_points(const Communicator& communicator, const std::vector<std::vector<Place>>& to,
                 LinearPart& part) {
    const ByRank<Place> got = all_to_all_lists(communicator, to);
    agree(communicator, [&] {
        for (std::size_t i = 0; i < got.values.size(); ++i) {
            if ((i + 1) % much_work == 0)
                check_cancelled(much_work);
            part.pixels[at(got.values[i].position - part.first)] = got.values[i].pixel;
        }
    });
}

/// Sends each contour's line to the rank that holds its first point. Collective.
void move_lines(const Communicator& communicator, const std::vector<std::vector<ContourLine>>& to,
                LinearPart& part) {
    part.lines = all_to_all_lists(communicator, to).values;
    std::sort(part.lines.begin(), part.lines.end(),
              [](const ContourLine& a, const ContourLine& b) { return a.first < b.first; });
}

} // namespace

Junctions sum_over_ranks(const Communicator& communicator, const Junctions& own) {
    return {sum_over_ranks(communicator, own.junctions), sum_over_ranks(communicator, own.cut)};
}

void each_point(const Grid& grid, const Tile& tile, const kernel::ContourRanking& ranking,
                const ContoursOfTile& contours, const TakePoint& take) {
    std::vector<std::int32_t> chains(at(tile.elements())), ranks = chains;
    ranking.write(contours.placings, {chains.data(), ranks.data(), tile.width});
    for (Elements i = 0; i < tile.elements(); ++i) {
        if (i % tile.width == 0)
            check_cancelled(tile.width);
        if (chains[at(i)] >= 0)
            take(at(chains[at(i)]), Elements{ranks[at(i)]},
                 (tile.y + i / tile.width) * grid.width + tile.x + i % tile.width);
    }
}

LinearPart linearize(const Communicator& communicator, const Grid& grid,
                     const kernel::ContourRanking& ranking, const ContoursOfTile& contours,
                     Elements min_points) {
    const auto ranks = at(communicator.size());
    std::vector<Share> shares;
    for (std::size_t i = 0; i < contours.heads.size(); ++i)
        shares.push_back({contours.heads[i], ranking.chains()[i].points});
    Numbering kept;
    const std::vector<ContourLine> line_of = lines_of(communicator, grid, shares, min_points, kept);
    const Grid parts = strips(communicator.size(), kept.weight);
    LinearPart made{kept.count, kept.weight, 0, {}, {}};
    std::vector<std::vector<Place>> points(ranks);
    std::vector<std::vector<ContourLine>> lines(ranks);
    agree(communicator, [&] {
        const Tile local = tile(parts, communicator.rank());
        made.first = local.y;
        made.pixels.resize(at(local.height));
        each_point(grid, tile(grid, communicator.rank()), ranking, contours,
                   [&](std::size_t chain, Elements rank, Elements pixel) {
                       ContourLine line = line_of[chain];
                       if (line.points == 0)
                           return;
                       const Elements position = line.first + rank;
                       const int to = rank_at(parts, 0, position);
                       points[at(to)].push_back({position, pixel});
                       if (rank > 0)
                           return;
                       line.closed = contours.placings[chain].period != kernel::Placing::open;
                       lines[at(to)].push_back(line);
                   });
    });
    move_points(communicator, points, made);
    move_lines(communicator, lines, made);
    return made;
}

ContourLines gather_lines(const Communicator& communicator, const Grid& grid,
                          const LinearPart& part) {
    return {{grid.width, grid.height},
            gather_lists(communicator, part.pixels).values,
            gather_lists(communicator, part.lines).values};
}

} // namespace sextant
