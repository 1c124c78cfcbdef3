// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filtering/filter_task.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::filtering {

namespace {

void check(const Task& task) {
    if (task.width < 1 || task.height < 1)
        throw InvalidTask(
            fmt::format("an image of {}x{} pixels: expected 1x1 or more", task.width, task.height));
    if (task.margins.empty() || task.outputs < 1)
        throw InvalidTask(fmt::format("{} filters with {} outputs: expected 1 or more of each",
                                      task.margins.size(), task.outputs));
    for (const Elements margin : task.margins) {
        if (margin < 0)
            throw InvalidTask(fmt::format("a margin of {}: expected 0 or more", margin));
    }
}

/// Margins must not reach beyond the neighbouring tiles, because borders come only from these.
void check_reach(const Task& task, const Way& way) {
    const Elements most = *std::max_element(task.margins.begin(), task.margins.end());
    const Elements narrowest = task.width / way.columns, lowest = task.height / way.rows;
    if (narrowest < most || lowest < most) {
        throw InvalidTask(fmt::format("{}x{} tiles of {}x{} pixels: the smallest is {}x{}, less "
                                      "than the margin of {}",
                                      way.columns, way.rows, task.width, task.height, narrowest,
                                      lowest, most));
    }
}

} // namespace

void check_role(const collective::Algorithm* row, std::initializer_list<Collective> expected,
                std::string_view role) {
    if (row && std::find(expected.begin(), expected.end(), row->what) == expected.end())
        throw InvalidTask(fmt::format("{} to {}: it does {}", row->name, role, name(row->what)));
}

std::vector<Retiling> Way::all_tiles() const {
    std::vector<Retiling> all = {{0, columns, rows}};
    all.insert(all.end(), retilings.begin(), retilings.end());
    return all;
}

int Way::ranks() const {
    int most = columns * rows;
    for (const Retiling& tiles : retilings)
        most = std::max(most, tiles.ranks());
    return most;
}

Retiling Way::tiles_of(int filter) const {
    Retiling found{0, columns, rows};
    for (const Retiling& tiles : retilings) {
        if (tiles.filter <= filter)
            found = tiles;
    }
    return found;
}

std::string Way::tiles_text() const {
    std::string text = fmt::format("{}x{} tiles", columns, rows);
    for (const Retiling& tiles : retilings)
        text += fmt::format(", then {}x{} from filter {} on", tiles.columns, tiles.rows,
                            tiles.filter + 1);
    return text;
}

std::string Way::text() const {
    std::string text = tiles_text();
    for (const collective::Algorithm* row : {distribute, collect}) {
        if (row)
            text += fmt::format(", {}", row->name);
    }
    if (packs)
        text += ", packed";
    return text;
}

std::vector<Way> grids_of(int ranks) {
    std::vector<Way> grids;
    for (int columns = 1; columns <= ranks; ++columns) {
        if (ranks % columns == 0)
            grids.push_back({columns, ranks / columns});
    }
    return grids;
}

Grid grid_of(const Task& task, const Way& way) {
    return {task.width, task.height, way.columns, way.rows};
}

void check_tiles(const Way& way, int filters) {
    const auto check = [](int columns, int rows) {
        if (columns < 1 || rows < 1)
            throw InvalidTask(fmt::format("{}x{} tiles: expected 1x1 or more", columns, rows));
    };
    check(way.columns, way.rows);
    int least = 1;
    for (const Retiling& tiles : way.retilings) {
        check(tiles.columns, tiles.rows);
        if (tiles.filter < least || tiles.filter >= filters)
            throw InvalidTask(fmt::format("{}: of {} filters, expected one of the second to the "
                                          "last, each after the one before",
                                          way.tiles_text(), filters));
        least = tiles.filter + 1;
    }
}

void check(const Task& task, const Way& way) {
    check(task);
    check_tiles(way, 1); // only window programs may change tiles
    check_role(way.distribute, {Collective::scatter, Collective::broadcast}, "distribute");
    check_role(way.collect, {Collective::gather}, "collect");
    if (task.collect != (way.collect != nullptr))
        throw InvalidTask(fmt::format("{}: {}", way.text(),
                                      task.collect ? "expected a gather, which collects"
                                                   : "expected no gather: tiles stay"));
    check_reach(task, way);
}

} // namespace sextant::filtering
