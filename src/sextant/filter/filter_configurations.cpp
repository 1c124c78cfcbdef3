// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/filter_configurations.hpp"

#include "sextant/filter/filter_plan.hpp"

#include <algorithm>
#include <utility>

namespace sextant::distributed {

namespace {

using collective::Algorithm;
using filtering::Configuration;
using filtering::Retiling;

/// Returns the numbers of ranks to try first: `most`, half of `most`, a quarter and so on down to
/// about 8, then every smaller number.
std::vector<int> first_ranks(int most) {
    constexpr int few = 8;
    std::vector<int> all;
    for (int ranks = most; ranks >= 1; ranks = ranks > few ? ranks / 2 : ranks - 1)
        all.push_back(ranks);
    return all;
}

/// Returns some numbers of ranks between `best` and the next smaller and next larger number in
/// `known`, at most about 16 on either side.
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

/// Returns the gather algorithms. The first entry is null and means that planes are sent directly
/// to rank 0.
std::vector<const Algorithm*> gathers() {
    std::vector<const Algorithm*> all = {nullptr};
    for (const Algorithm& row : collective::catalogue()) {
        if (row.what == CollectiveKind::gather)
            all.push_back(&row);
    }
    return all;
}

/// True if some messages are strided: with several columns, or with rows in layers of a volume.
bool is_strided(const Configuration& configuration) {
    const std::vector<Retiling> all = configuration.all_tiles();
    return std::any_of(all.begin(), all.end(), [](const Retiling& change) {
        const auto& [columns, rows, layers] = change.tiles;
        return columns > 1 || (rows > 1 && layers > 1);
    });
}

/// Returns the configuration with filters [first, end) moved to the tiles of `grid`.
Configuration with_stretch(const Configuration& configuration, int filters, int first, int end,
                           const Configuration& grid) {
    const auto tiles = [&](int filter) {
        return filter >= first && filter < end ? grid.tiles() : configuration.tiles_of(filter);
    };
    Configuration made = configuration;
    const Tiles start = tiles(0);
    made.columns = start.columns, made.rows = start.rows, made.layers = start.layers;
    made.retilings.clear();
    for (int filter = 1; filter < filters; ++filter) {
        if (tiles(filter) != tiles(filter - 1))
            made.retilings.push_back({filter, tiles(filter)});
    }
    if (first == 0)
        made.distribute = grid.distribute;
    if (end == filters)
        made.collect = grid.collect;
    made.packs = is_strided(configuration) ? configuration.packs : grid.packs;
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

FilterConfigurations::FilterConfigurations(const FilterTask& task, const machine::Profile& machine)
    : task_(task), machine_(machine), distributions_(distributions_of(task)) {}

bool FilterConfigurations::weighs_ranks() const {
    return !task_.grid && machine_.find_kernel(filter_kernel, "f32") != nullptr;
}

/// Adds configurations that combine a grid with every collective.
void FilterConfigurations::add(std::vector<Configuration>& configurations,
                               const Configuration& grid) const {
    if (grid.ranks() == 1)
        return configurations.push_back(grid);
    // Boxes that are not whole planes are always packed, plane by plane, for collectives.
    const bool would_pack = task_.is_volume() && grid.columns * grid.rows > 1;
    for (const Algorithm* distribute : distributions_) {
        for (const Algorithm* collect : gathers()) {
            if (would_pack && (collect || distribute != distributions_.front()))
                continue;
            if (task_.distribute == "any" && distribute && collect)
                continue; // too many pairs to try all: vary one collective at a time
            Configuration configuration = grid;
            configuration.distribute = distribute, configuration.collect = collect;
            configurations.push_back(configuration);
            configuration.packs = true;
            if (is_strided(grid) && !machine_.copies.empty())
                configurations.push_back(configuration);
        }
    }
}

std::vector<Configuration> FilterConfigurations::grids_of(int ranks) const {
    return task_.is_volume() ? filtering::boxes_of(ranks) : filtering::grids_of(ranks);
}

std::vector<Configuration> FilterConfigurations::first() const {
    std::vector<Configuration> configurations;
    if (task_.grid) {
        add(configurations, filtering::configuration_on(*task_.grid));
        return configurations;
    }
    for (const int ranks : weighs_ranks() ? first_ranks(task_.ranks) : std::vector{task_.ranks}) {
        for (const Configuration& grid : grids_of(ranks))
            add(configurations, grid);
    }
    return configurations;
}

std::vector<Configuration> FilterConfigurations::of_other_ranks(const Configuration& best,
                                                                std::vector<int>& known) const {
    std::vector<Configuration> configurations;
    if (!weighs_ranks())
        return configurations;
    if (known.empty())
        known = first_ranks(task_.ranks);
    for (const int ranks : beside(best.ranks(), known)) {
        known.push_back(ranks);
        for (Configuration configuration : grids_of(ranks)) {
            if (best.ranks() > 1) {
                configuration.distribute = best.distribute, configuration.collect = best.collect;
                configuration.packs = best.packs && is_strided(configuration);
            } else {
                configuration.distribute = distributions_.front();
            }
            configurations.push_back(configuration);
        }
    }
    return configurations;
}

std::vector<Configuration>
FilterConfigurations::retiled(const Configuration& configuration,
                              const std::vector<Configuration>& grids) const {
    const int filters = static_cast<int>(task_.filters.size());
    std::vector<Configuration> configurations;
    for (const Configuration& grid : grids) {
        for (int first = 0; first < filters; ++first) {
            for (int end = first + 1; end <= filters; ++end) {
                const Configuration made = with_stretch(configuration, filters, first, end, grid);
                const bool changes = !(made == configuration) && !made.retilings.empty();
                if (changes && std::find(configurations.begin(), configurations.end(), made) ==
                                   configurations.end())
                    configurations.push_back(made);
            }
        }
    }
    return configurations;
}

} // namespace sextant::distributed
