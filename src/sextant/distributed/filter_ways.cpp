// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/filter_ways.hpp"

#include "sextant/distributed/filter_plan.hpp"

#include <algorithm>
#include <utility>

namespace sextant::distributed {

namespace {

using collective::Algorithm;
using filtering::Retiling;
using filtering::Way;

/// The numbers of ranks to try first: `most`, half, a quarter, and so on; all from 8 down.
std::vector<int> first_ranks(int most) {
    constexpr int few = 8;
    std::vector<int> all;
    for (int ranks = most; ranks >= 1; ranks = ranks > few ? ranks / 2 : ranks - 1)
        all.push_back(ranks);
    return all;
}

/// Numbers of ranks between `best` and its neighbours in `known`; at most about 16 on either side.
std::vector<int> beside(int best, const std::vector<int>& known) {
    constexpr int most = 16;
    int below = 0, above = best;
    for (const int ranks : known) {
        below = ranks < best ? std::max(below, ranks) : below;
        above = ranks > best && (above == best || ranks < above) ? ranks : above;
    }
    std::vector<int> all;
    for (const auto& [low, high] : {std::pair(below, best), std::pair(best, above)}) {
        const int step = std::max(1, (high - low) / most);
        for (int ranks = high - step; ranks > low; ranks -= step)
            all.push_back(ranks);
    }
    return all;
}

/// Null, for planes that go straight to rank 0, comes first.
std::vector<const Algorithm*> gathers() {
    std::vector<const Algorithm*> all = {nullptr};
    for (const Algorithm& row : collective::catalogue()) {
        if (row.what == CollectiveKind::gather)
            all.push_back(&row);
    }
    return all;
}

/// The tiles of each filter.
std::vector<Retiling> tiles_of(const Way& way, int filters) {
    std::vector<Retiling> tiles;
    for (int filter = 0; filter < filters; ++filter)
        tiles.push_back(way.tiles_of(filter));
    return tiles;
}

void set_tiles(Way& way, const std::vector<Retiling>& tiles) {
    way.columns = tiles.front().columns, way.rows = tiles.front().rows;
    way.retilings.clear();
    for (std::size_t filter = 1; filter < tiles.size(); ++filter) {
        const Retiling &before = tiles[filter - 1], &now = tiles[filter];
        if (now.columns != before.columns || now.rows != before.rows)
            way.retilings.push_back({static_cast<int>(filter), now.columns, now.rows});
    }
}

bool has_columns(const Way& way) {
    return way.columns > 1 || std::any_of(way.retilings.begin(), way.retilings.end(),
                                          [](const Retiling& t) { return t.columns > 1; });
}

/// A configuration with filters [first, end) moved to the tiles of `grid`.
Way with_stretch(const Way& way, int filters, int first, int end, const Way& grid) {
    std::vector<Retiling> tiles = tiles_of(way, filters);
    for (int filter = first; filter < end; ++filter)
        tiles[static_cast<std::size_t>(filter)] = {filter, grid.columns, grid.rows};
    Way made = way;
    set_tiles(made, tiles);
    if (first == 0)
        made.distribute = grid.distribute;
    if (end == filters)
        made.collect = grid.collect;
    made.packs = has_columns(way) ? way.packs : grid.packs;
    return made;
}

} // namespace

std::vector<const Algorithm*> distributions_of(const FilterTask& task) {
    if (task.distribute == "read")
        return {nullptr};
    const bool any = task.distribute == "any";
    std::vector<const Algorithm*> all(any ? 1 : 0);
    for (const Algorithm& row : collective::catalogue()) {
        const bool distributes =
            row.what == CollectiveKind::scatter || row.what == CollectiveKind::broadcast;
        if (name(row.what) == task.distribute || (any && distributes))
            all.push_back(&row);
    }
    return all.empty() ? std::vector{&collective::find(task.distribute)} : all;
}

FilterWays::FilterWays(const FilterTask& task, const machine::Profile& machine)
    : task_(task), machine_(machine), distributions_(distributions_of(task)) {}

bool FilterWays::weighs_ranks() const {
    return !task_.grid && machine_.find_kernel(filter_kernel, "f32") != nullptr;
}

/// Adds a grid with every collective.
void FilterWays::add(std::vector<Way>& ways, const Way& grid) const {
    if (grid.ranks() == 1)
        return ways.push_back(grid);
    for (const Algorithm* distribute : distributions_) {
        for (const Algorithm* collect : gathers()) {
            if (task_.distribute == "any" && distribute && collect)
                continue; // each is compared with the default of the other: all pairs are too many
            ways.push_back({grid.columns, grid.rows, distribute, collect, false});
            if (grid.columns > 1 && !machine_.copies.empty())
                ways.push_back({grid.columns, grid.rows, distribute, collect, true});
        }
    }
}

std::vector<Way> FilterWays::first() const {
    std::vector<Way> ways;
    if (task_.grid) {
        add(ways, {task_.grid->columns, task_.grid->rows});
        return ways;
    }
    for (const int ranks : weighs_ranks() ? first_ranks(task_.ranks) : std::vector{task_.ranks}) {
        for (const Way& grid : filtering::grids_of(ranks))
            add(ways, grid);
    }
    return ways;
}

std::vector<Way> FilterWays::of_other_ranks(const Way& best, std::vector<int>& known) const {
    std::vector<Way> ways;
    if (!weighs_ranks())
        return ways;
    if (known.empty())
        known = first_ranks(task_.ranks);
    for (const int ranks : beside(best.ranks(), known)) {
        known.push_back(ranks);
        for (Way way : filtering::grids_of(ranks)) {
            if (best.ranks() > 1) {
                way.distribute = best.distribute, way.collect = best.collect;
                way.packs = best.packs && way.columns > 1;
            } else {
                way.distribute = distributions_.front();
            }
            ways.push_back(way);
        }
    }
    return ways;
}

std::vector<Way> FilterWays::retiled(const Way& way, const std::vector<Way>& grids) const {
    const int filters = static_cast<int>(task_.filters.size());
    std::vector<Way> ways;
    for (const Way& grid : grids) {
        for (int first = 0; first < filters; ++first) {
            for (int end = first + 1; end <= filters; ++end) {
                const Way made = with_stretch(way, filters, first, end, grid);
                const bool changes = !(made == way) && !made.retilings.empty();
                if (changes && std::find(ways.begin(), ways.end(), made) == ways.end())
                    ways.push_back(made);
            }
        }
    }
    return ways;
}

} // namespace sextant::distributed
