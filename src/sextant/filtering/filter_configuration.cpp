// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filtering/filter_configuration.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::filtering {

void check_role(const collective::Algorithm* row, std::initializer_list<CollectiveKind> expected,
                std::string_view role) {
    if (row && std::find(expected.begin(), expected.end(), row->what) == expected.end())
        throw InvalidTask(
            fmt::format("{} cannot {}: it performs {}", row->name, role, name(row->what)));
}

std::vector<Retiling> Configuration::all_tiles() const {
    std::vector<Retiling> all = {{0, tiles()}};
    all.insert(all.end(), retilings.begin(), retilings.end());
    return all;
}

int Configuration::ranks() const {
    std::int64_t most = tiles().count();
    for (const Retiling& change : retilings)
        most = std::max(most, change.tiles.count());
    return static_cast<int>(most);
}

Tiles Configuration::tiles_of(int filter) const {
    Tiles found = tiles();
    for (const Retiling& change : retilings) {
        if (change.filter <= filter)
            found = change.tiles;
    }
    return found;
}

std::string Configuration::tiles_text() const {
    std::string text = tiles().text() + " tiles";
    for (const Retiling& change : retilings)
        text += fmt::format(", then {} from filter {}", change.tiles.text(), change.filter + 1);
    return text;
}

std::string Configuration::text() const {
    if (ranks() == 1)
        return "rank 0 alone";
    return fmt::format("{}, {}, {}{}", tiles_text(),
                       distribute ? distribute->name : "each rank reads its own tile",
                       collect ? collect->name : "planes sent directly to rank 0",
                       packs ? ", packed" : "");
}

Configuration configuration_on(const Tiles& tiles) {
    Configuration configuration{tiles.columns, tiles.rows};
    configuration.layers = tiles.layers;
    return configuration;
}

std::vector<Configuration> grids_of(int ranks) {
    std::vector<Configuration> grids;
    for (int columns = 1; columns <= ranks; ++columns) {
        if (ranks % columns == 0)
            grids.push_back({columns, ranks / columns});
    }
    return grids;
}

std::vector<Configuration> boxes_of(int ranks) {
    std::vector<Configuration> boxes;
    for (int in_plane = 1; in_plane <= ranks; ++in_plane) {
        if (ranks % in_plane != 0)
            continue;
        for (Configuration grid : grids_of(in_plane)) {
            grid.layers = ranks / in_plane;
            boxes.push_back(grid);
        }
    }
    return boxes;
}

void check_tiles(const Configuration& configuration, int filters) {
    const auto check = [](const Tiles& tiles) {
        if (tiles.columns < 1 || tiles.rows < 1 || tiles.layers < 1)
            throw InvalidTask(fmt::format("{} tiles: expected 1x1 or more", tiles.text()));
    };
    check(configuration.tiles());
    int least = 1;
    for (const Retiling& change : configuration.retilings) {
        check(change.tiles);
        if (change.filter < least || change.filter >= filters)
            throw InvalidTask(fmt::format("{}: expected filters from 2 to {}, in ascending order",
                                          configuration.tiles_text(), filters));
        least = change.filter + 1;
    }
}

} // namespace sextant::filtering
