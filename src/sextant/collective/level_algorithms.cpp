// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/level_algorithms.hpp"

#include "sextant/collective/tiles.hpp"
#include "sextant/core/error.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace sextant::collective {

namespace {

/// A level of the division, as seen by one rank.
struct Stage {
    Submachine machine;
    Division division;
    Submachine own; ///< the part that contains this rank
};

std::vector<Stage> stages_of(const Grid& grid, const Divide& divide, int rank) {
    std::vector<Stage> stages;
    for (Submachine machine = whole_machine(grid); machine.size() > 1;) {
        Division division = divide(machine, static_cast<int>(stages.size()));
        const Submachine own =
            *std::find_if(division.parts.begin(), division.parts.end(),
                          [&](const Submachine& part) { return contains(grid, part, rank); });
        stages.push_back({machine, std::move(division), own});
        machine = own;
    }
    return stages;
}

/// The number of levels below a submachine, memoised by level and shape.
class Depth {
  public:
    explicit Depth(const Divide& divide) : divide_(divide) {}

    int operator()(const Submachine& machine, int level = 0) {
        if (machine.size() == 1)
            return 0;
        const auto [entry, is_new] = known_.insert({{level, machine.columns, machine.rows}, 0});
        if (is_new) {
            int deepest = 0;
            for (const Submachine& part : divide_(machine, level).parts)
                deepest = std::max(deepest, (*this)(part, level + 1));
            entry->second = 1 + deepest;
        }
        return entry->second;
    }

  private:
    const Divide& divide_;
    std::map<std::tuple<int, int, int>, int> known_;
};

void label(ProgramBuilder& builder, const Grid& grid, const Stage& stage, int round) {
    builder.round(round);
    builder.group(group_of(grid, stage.division.travelled));
}

/// Sends data down the levels: each part of a submachine gets its own tiles, or all data if
/// `everything` is set.
Program hand_down(const Partition& data, const Divide& divide, int rank, bool everything) {
    const Grid& grid = data.grid();
    ProgramBuilder builder;
    PackedTiles held(data);
    Region place = rank == 0 ? builder.input(held.elements()) : block(0, 0, 0);
    const auto given = [&](const Submachine& part) {
        return everything ? PackedTiles(data) : PackedTiles(data, part);
    };
    int round = 0;
    for (const Stage& stage : stages_of(grid, divide, rank)) {
        const int from = leader(grid, stage.machine);
        label(builder, grid, stage, round++);
        if (rank == from) {
            for (const Submachine& part : stage.division.parts) {
                if (!(part == stage.own))
                    builder.send(leader(grid, part), held.regions_of(given(part), place.buffer));
            }
        } else if (rank == leader(grid, stage.own)) {
            held = given(stage.own);
            place = builder.scratch(held.elements());
            builder.receive(from, place);
        }
    }
    return builder.finish(everything ? place : held.region_of(rank, place.buffer));
}

} // namespace

Division into_processors(const Submachine& machine) {
    Division division{machine, {}};
    for (int y = 0; y < machine.rows; ++y) {
        for (int x = 0; x < machine.columns; ++x)
            division.parts.push_back({machine.column + x, machine.row + y, 1, 1});
    }
    return division;
}

Division into_rows(const Submachine& machine) {
    Division division{{machine.column, machine.row, 1, machine.rows}, {}};
    for (int y = 0; y < machine.rows; ++y)
        division.parts.push_back({machine.column, machine.row + y, machine.columns, 1});
    return division;
}

Program scatter_by_levels(const Partition& data, const Divide& divide, int rank) {
    return hand_down(data, divide, rank, false);
}

Program broadcast_by_levels(const Partition& data, const Divide& divide, int rank) {
    return hand_down(data, divide, rank, true);
}

Program gather_by_levels(const Partition& data, const Divide& divide, int rank) {
    const Grid& grid = data.grid();
    const std::vector<Stage> stages = stages_of(grid, divide, rank);
    const auto led = std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) {
        return rank == leader(grid, stage.machine);
    });
    const PackedTiles held = rank == 0             ? PackedTiles(data)
                             : led == stages.end() ? PackedTiles(data, rank, rank + 1)
                                                   : PackedTiles(data, led->machine);

    ProgramBuilder builder;
    const Region input = builder.input(data.elements(rank));
    Region place = input;
    if (rank == 0)
        place = builder.output(held.elements());
    else if (held.elements() > input.elements())
        place = builder.scratch(held.elements());
    int round = Depth(divide)(whole_machine(grid)) - static_cast<int>(stages.size());
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
        const int to = leader(grid, stage->machine);
        label(builder, grid, *stage, round++);
        if (rank == to) {
            for (const Submachine& part : stage->division.parts) {
                if (!(part == stage->own)) {
                    builder.receive(leader(grid, part),
                                    held.regions_of(PackedTiles(data, part), place.buffer));
                }
            }
        } else if (rank == leader(grid, stage->own)) {
            if (!(place == input))
                builder.copy(held.region_of(rank, place.buffer), input);
            builder.send(to, place);
        }
    }
    if (rank > 0)
        return builder.finish({});
    builder.copy(held.region_of(rank, place.buffer), input);
    return builder.finish(place);
}

namespace {

Division by_rows(const Submachine& machine, int) {
    return machine.rows > 1 ? into_rows(machine) : into_processors(machine);
}

} // namespace

Program two_level_scatter(const Partition& data, int rank) {
    return scatter_by_levels(data, by_rows, rank);
}

Program two_level_gather(const Partition& data, int rank) {
    return gather_by_levels(data, by_rows, rank);
}

namespace {

/// Cuts a submachine into `down` bands of rows, and each band into `across` pieces of columns.
Division into_pieces(const Submachine& machine, int across, int down) {
    const Submachine column{machine.column, machine.row, 1, machine.rows};
    Division division{across == 1 ? column : machine, {}};
    for (int j = 0; j < down; ++j) {
        const int top = machine.rows * j / down, bottom = machine.rows * (j + 1) / down;
        for (int i = 0; i < across; ++i) {
            const int left = machine.columns * i / across;
            const int right = machine.columns * (i + 1) / across;
            division.parts.push_back(
                {machine.column + left, machine.row + top, right - left, bottom - top});
        }
    }
    return division;
}

Divide by_alpha(double alpha) {
    if (!(alpha > 0 && alpha < 1))
        throw InvalidTask(
            fmt::format("the exponent alpha is {}, expected more than 0 and less than 1", alpha));
    return [alpha](const Submachine& machine, int level) {
        if (level > 0)
            return into_processors(machine);
        const auto parts = static_cast<int>(std::lround(std::pow(machine.size(), alpha)));
        const int down = std::clamp(parts, 1, machine.rows);
        const int across = std::clamp((parts + down / 2) / down, 1, machine.columns);
        if (across * down == 1)
            return into_processors(machine);
        return into_pieces(machine, across, down);
    };
}

} // namespace

Program two_level_scatter(const Partition& data, int rank, double alpha) {
    return scatter_by_levels(data, by_alpha(alpha), rank);
}

Program two_level_gather(const Partition& data, int rank, double alpha) {
    return gather_by_levels(data, by_alpha(alpha), rank);
}

namespace {

Division by_squares(const Submachine& machine, int level) {
    if (level == 0)
        return {machine, into_squares(machine)};
    return machine.rows > 1 ? into_rows(machine) : into_processors(machine);
}

} // namespace

Program three_level_scatter(const Partition& data, int rank) {
    return scatter_by_levels(data, by_squares, rank);
}

Program three_level_gather(const Partition& data, int rank) {
    return gather_by_levels(data, by_squares, rank);
}

namespace {

Divide in_two(double share) {
    if (!(share > 0 && share < 1))
        throw InvalidTask(fmt::format(
            "the fraction that a leader keeps is {}, expected more than 0 and less than 1", share));
    return [share](const Submachine& machine, int) {
        return Division{machine, cut_in_two(machine, share)};
    };
}

} // namespace

Program halving_scatter(const Partition& data, int rank, double share) {
    return scatter_by_levels(data, in_two(share), rank);
}

Program halving_gather(const Partition& data, int rank, double share) {
    return gather_by_levels(data, in_two(share), rank);
}

Program halving_broadcast(const Partition& data, int rank) {
    return broadcast_by_levels(data, in_two(.5), rank);
}

} // namespace sextant::collective
