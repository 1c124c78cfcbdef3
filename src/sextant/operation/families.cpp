// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/families.hpp"

#include "sextant/collective/binomial_scatter.hpp"
#include "sextant/collective/linear_gather.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/halo/exchange.hpp"
#include "sextant/planner/rule.hpp"
#include "sextant/report/text.hpp"
#include "sextant/scan/kogge_stone.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// All ranks' programs. Throws InvalidTask as soon as they hold more messages than they may.
Schedule all_programs(const ScheduleRequest& request, std::string_view title,
                      const std::function<Program(int rank)>& program) {
    Schedule schedule;
    std::int64_t messages = 0;
    for (int rank = 0; rank < request.ranks; ++rank) {
        const std::vector<Step>& steps = schedule.emplace_back(program(rank)).steps;
        messages += std::count_if(steps.begin(), steps.end(),
                                  [](const Step& step) { return step.verb == Verb::send; });
        if (messages <= most_messages)
            continue;
        throw InvalidTask(
            fmt::format("{} on {} ranks has more than {} messages, too many to hold "
                        "at once; take fewer ranks, or an algorithm of fewer messages",
                        title, request.ranks, report::grouped(most_messages)));
    }
    return schedule;
}

NamedSchedule compositing_schedule(const compositing::Algorithm& algorithm,
                                   const compositing::Tuning& tuning,
                                   const ScheduleRequest& request) {
    const auto task = compositing::one_image_each(request.ranks, request.elements, request.root);
    const std::string title = planner::Plan{&algorithm, tuning, ""}.text();
    return {
        std::string(algorithm.name), title,
        all_programs(request, title,
                     [&](int rank) { return compositing::program(algorithm, task, tuning, rank); }),
        compositing::claim(algorithm, task, tuning)};
}

/// Where a tuning is given, the algorithms that have one are meant.
void for_each_compositing(const ScheduleRequest& request,
                          const std::function<void(const NamedSchedule&)>& visit) {
    const bool tuned = request.tuning != compositing::Tuning{};
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        if (!request.algorithm.empty() && request.algorithm != algorithm.name)
            continue;
        if (!tuned) {
            for (const compositing::Tuning& tuning : algorithm.tunings(request.ranks))
                visit(compositing_schedule(algorithm, tuning, request));
        } else if (!request.algorithm.empty() || planner::takes(algorithm, request.tuning)) {
            const auto plan =
                planner::choose_by_name(std::string(algorithm.name), request.tuning, request.ranks);
            visit(compositing_schedule(algorithm, plan.tuning, request));
        }
    }
}

/// What is wrong with symbols that should be elements `first`, `first` + 1, ... of operands [from,
/// to).
std::string judge(const std::vector<Symbol>& result, Elements first, Elements count, int from,
                  int to) {
    if (static_cast<Elements>(result.size()) != count) {
        return fmt::format("{} elements, expected {}", result.size(), count);
    }
    for (std::size_t e = 0; e < result.size(); ++e) {
        const Symbol& s = result[e];
        if (s.element != first + static_cast<Elements>(e) || s.first != from || s.last != to) {
            return fmt::format("element {} is [{}, {}) of {}", e, s.first, s.last, s.element);
        }
    }
    return "";
}

NamedSchedule kogge_stone(const ScheduleRequest& request) {
    NamedSchedule made{"kogge-stone", "kogge-stone", {}, {}};
    made.schedule = all_programs(request, made.title, [&](int rank) {
        return scan::kogge_stone(request.ranks, request.elements, rank);
    });
    made.claim.given = [](int rank, int, Elements e) { return Symbol{e, rank, rank + 1, 0}; };
    made.claim.wanted = [count = request.elements](int rank, const std::vector<Symbol>& result) {
        return judge(result, 0, count, 0, rank + 1);
    };
    return made;
}

NamedSchedule binomial_scatter(const ScheduleRequest& request) {
    NamedSchedule made{"binomial-scatter", "binomial-scatter", {}, {}};
    made.schedule = all_programs(request, made.title, [&](int rank) {
        return collective::binomial_scatter(request.ranks, request.elements, rank);
    });
    made.claim.given = [](int, int, Elements e) { return Symbol{e, 0, 1, 0}; };
    made.claim.wanted = [n = request.elements,
                         p = request.ranks](int rank, const std::vector<Symbol>& result) {
        const Elements first = n * rank / p;
        return judge(result, first, n * (rank + 1) / p - first, 0, 1);
    };
    return made;
}

NamedSchedule linear_gather(const ScheduleRequest& request) {
    NamedSchedule made{"linear-gather", "linear-gather", {}, {}};
    const Elements n = request.elements;
    const int p = request.ranks;
    std::vector<Elements> counts;
    for (int rank = 0; rank < p; ++rank)
        counts.push_back(n * (rank + 1) / p - n * rank / p);
    made.schedule = all_programs(request, made.title,
                                 [&](int rank) { return collective::linear_gather(counts, rank); });
    made.claim.given = [=](int rank, int, Elements e) { return Symbol{n * rank / p + e, 0, 1, 0}; };
    made.claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        return judge(result, 0, rank == 0 ? n : 0, 0, 1);
    };
    return made;
}

/// The most nearly square grid of so many ranks, on an image of about so many pixels.
halo::Grid grid_of(const ScheduleRequest& request) {
    halo::Grid grid;
    grid.margin = 1;
    for (int columns = 1; columns * columns <= request.ranks; ++columns) {
        if (request.ranks % columns == 0)
            grid.columns = columns;
    }
    grid.rows = request.ranks / grid.columns;
    const auto side = static_cast<Elements>(std::sqrt(static_cast<double>(request.elements)));
    grid.width = std::max<Elements>(side, 2 * grid.columns + 1);
    grid.height = std::max<Elements>(side, 2 * grid.rows + 1);
    return grid;
}

NamedSchedule halo_exchange(const ScheduleRequest& request) {
    const halo::Grid grid = grid_of(request);
    NamedSchedule made{
        "exchange", fmt::format("exchange, {}x{} tiles", grid.columns, grid.rows), {}, {}};
    made.schedule =
        all_programs(request, made.title, [&](int rank) { return halo::exchange(grid, rank); });
    // Element e of a rank's buffer, as a pixel of the image; -1 outside the image.
    const auto pixel = [grid](int rank, Elements e, bool margin_too) -> Elements {
        const halo::Tile tile = halo::tile(grid, rank);
        const Elements pitch = tile.width + 2 * grid.margin;
        const Elements x = e % pitch - grid.margin, y = e / pitch - grid.margin;
        const bool own = x >= 0 && x < tile.width && y >= 0 && y < tile.height;
        const Elements X = tile.x + x, Y = tile.y + y;
        const bool inside = X >= 0 && X < grid.width && Y >= 0 && Y < grid.height;
        return inside && (own || margin_too) ? Y * grid.width + X : Symbol::undefined;
    };
    made.claim.given = [pixel](int rank, int, Elements e) {
        return Symbol{pixel(rank, e, false), 0, 1, 0};
    };
    made.claim.wanted = [pixel](int rank, const std::vector<Symbol>& result) -> std::string {
        for (std::size_t e = 0; e < result.size(); ++e) {
            const Elements expected = pixel(rank, static_cast<Elements>(e), true);
            if (expected == Symbol::undefined || result[e].element == expected)
                continue;
            return fmt::format("element {} holds pixel {}, expected {}", e, result[e].element,
                               expected);
        }
        return "";
    };
    return made;
}

/// An algorithm without tunings, for any number of ranks.
struct Row {
    std::string_view name, summary, source;
    NamedSchedule (*make)(const ScheduleRequest& request);
};

constexpr Row scans[] = {{"kogge-stone", "each rank combines with rank - 1, - 2, - 4, ...",
                          "Kogge and Stone 1973, doi:10.1109/TC.1973.5009159", kogge_stone}};

constexpr Row collectives[] = {{"binomial-scatter", "halves of what is left go down a tree",
                                "Chan et al. 2007, doi:10.1002/cpe.1206", binomial_scatter},
                               {"linear-gather", "rank 0 receives from each other rank",
                                "Chan et al. 2007, doi:10.1002/cpe.1206", linear_gather}};

constexpr Row halos[] = {{"exchange", "tiles of an image and the margins around them",
                          "the ghost-cell pattern", halo_exchange}};

/// Compositing has a catalogue of its own, and tunings.
struct Family {
    std::string_view name;
    std::span<const Row> rows;
};

constexpr Family families[] = {
    {"compositing", {}}, {"scan", scans}, {"collective", collectives}, {"halo", halos}};

constexpr bool is_compositing(const Family& family) {
    return family.rows.empty();
}

/// The family asked for. Throws InvalidTask for what it does not have, or has no use for.
const Family& checked_family(const ScheduleRequest& request) {
    const Family& family = find_by_name<Family>("family", request.family, families);
    if (is_compositing(family)) {
        if (!request.algorithm.empty())
            compositing::find(request.algorithm);
        return family;
    }
    if (!request.algorithm.empty()) {
        find_by_name<Row>(fmt::format("{} algorithm", family.name), request.algorithm, family.rows);
    }
    if (request.tuning != compositing::Tuning{}) {
        throw InvalidTask(fmt::format("{} has nothing to tune: radices and windows are of "
                                      "compositing",
                                      family.name));
    }
    if (request.root != compositing::Task::distributed) {
        throw InvalidTask(
            fmt::format("{} has no picture to collect; compositing has", family.name));
    }
    return family;
}

} // namespace

Parameter family_parameter() {
    Parameter parameter{.name = "family",
                        .type = Type::choice,
                        .value = "FAMILY",
                        .fallback = families[0].name,
                        .help = "which algorithms",
                        .positional = true};
    for (const Family& family : families)
        parameter.choices.push_back(family.name);
    return parameter;
}

std::vector<FamilyAlgorithm> family_algorithms() {
    std::vector<FamilyAlgorithm> all;
    for (const Family& family : families) {
        if (is_compositing(family)) {
            for (const compositing::Algorithm& row : compositing::catalogue())
                all.push_back({family.name, row.name, row.summary, row.takes, row.source});
        }
        for (const Row& row : family.rows)
            all.push_back({family.name, row.name, row.summary, "any number", row.source});
    }
    return all;
}

void for_each_schedule(const ScheduleRequest& request,
                       const std::function<void(const NamedSchedule&)>& visit) {
    const Family& family = checked_family(request);
    if (is_compositing(family))
        return for_each_compositing(request, visit);
    for (const Row& row : family.rows) {
        if (request.algorithm.empty() || request.algorithm == row.name)
            visit(row.make(request));
    }
}

NamedSchedule make_schedule(const ScheduleRequest& request) {
    const Family& family = checked_family(request);
    if (!is_compositing(family)) {
        const std::string_view name =
            request.algorithm.empty() ? family.rows.front().name : request.algorithm;
        return find_by_name<Row>(family.name, name, family.rows).make(request);
    }
    const std::string name = request.algorithm.empty() ? "auto" : request.algorithm;
    const planner::Plan plan = planner::choose(name, request.tuning, request.ranks, true);
    return compositing_schedule(*plan.algorithm, plan.tuning, request);
}

} // namespace sextant::operation
