// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/families.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/halo/axis_exchange.hpp"
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
        if (messages <= request.most_messages)
            continue;
        throw InvalidTask(
            fmt::format("{} on {} ranks has more than {} messages, too many to hold "
                        "at once; take fewer ranks, or an algorithm of fewer messages",
                        title, request.ranks, report::grouped(request.most_messages)));
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

std::vector<NamedSchedule> compositing_schedules(const ScheduleRequest& request) {
    std::vector<NamedSchedule> all;
    if (!request.algorithm.empty())
        compositing::find(request.algorithm);
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        if (!request.algorithm.empty() && request.algorithm != algorithm.name)
            continue;
        if (!request.radices.empty()) {
            const auto plan = planner::choose_by_name(std::string(algorithm.name), request.radices,
                                                      request.ranks);
            all.push_back(compositing_schedule(algorithm, plan.tuning, request));
            continue;
        }
        for (const compositing::Tuning& tuning : algorithm.tunings(request.ranks)) {
            all.push_back(compositing_schedule(algorithm, tuning, request));
        }
    }
    return all;
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

std::vector<NamedSchedule> scan_schedules(const ScheduleRequest& request) {
    NamedSchedule made{"kogge-stone", "kogge-stone", {}, {}};
    made.schedule = all_programs(request, made.title, [&](int rank) {
        return scan::kogge_stone(request.ranks, request.elements, rank);
    });
    made.claim.given = [](int rank, int, Elements e) { return Symbol{e, rank, rank + 1, 0}; };
    made.claim.wanted = [count = request.elements](int rank, const std::vector<Symbol>& result) {
        return judge(result, 0, count, 0, rank + 1);
    };
    return {made};
}

std::vector<NamedSchedule> collective_schedules(const ScheduleRequest& request) {
    const Grid grid = strips(request.ranks, request.elements);
    if (!request.algorithm.empty())
        collective::find(request.algorithm);
    std::vector<NamedSchedule> all;
    for (const collective::Algorithm& algorithm : collective::catalogue()) {
        if (!request.algorithm.empty() && request.algorithm != algorithm.name)
            continue;
        const std::string name(algorithm.name);
        all.push_back(
            {name, name,
             all_programs(request, name, [&](int rank) { return algorithm.program(grid, rank); }),
             algorithm.claim(grid)});
    }
    return all;
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

/// A halo exchange, and the tile with margins that its ranks' buffers hold.
struct HaloExchange {
    std::string_view name;
    Program (*program)(const halo::Grid& grid, int rank);
    halo::Tile (*held)(const halo::Grid& grid, int rank);
};

constexpr HaloExchange halo_exchanges[] = {
    {"exchange", halo::exchange, halo::padded_tile},
    {"axis-exchange", halo::axis_exchange, halo::clipped_tile}};

/// Every margin inside the image ends up with the neighbours' pixels.
Claim claim_of(const HaloExchange& exchange, const halo::Grid& grid) {
    // Element e of a rank's buffer, as a pixel of the image; -1 outside the image.
    const auto pixel = [=](int rank, Elements e, bool margin_too) -> Elements {
        const halo::Tile own = halo::tile(grid, rank), held = exchange.held(grid, rank);
        const Elements x = held.x + e % held.width, y = held.y + e / held.width;
        const bool in_own =
            x >= own.x && x < own.x + own.width && y >= own.y && y < own.y + own.height;
        const bool inside = x >= 0 && x < grid.width && y >= 0 && y < grid.height;
        return inside && (in_own || margin_too) ? y * grid.width + x : Symbol::undefined;
    };
    Claim claim;
    claim.given = [pixel](int rank, int, Elements e) {
        return Symbol{pixel(rank, e, false), 0, 1, 0};
    };
    claim.wanted = [pixel](int rank, const std::vector<Symbol>& result) -> std::string {
        for (std::size_t e = 0; e < result.size(); ++e) {
            const Elements expected = pixel(rank, static_cast<Elements>(e), true);
            if (expected == Symbol::undefined || result[e].element == expected)
                continue;
            return fmt::format("element {} holds pixel {}, expected {}", e, result[e].element,
                               expected);
        }
        return "";
    };
    return claim;
}

std::vector<NamedSchedule> halo_schedules(const ScheduleRequest& request) {
    const halo::Grid grid = grid_of(request);
    if (!request.algorithm.empty())
        find_by_name<HaloExchange>("halo algorithm", request.algorithm, halo_exchanges);
    std::vector<NamedSchedule> all;
    for (const HaloExchange& exchange : halo_exchanges) {
        if (!request.algorithm.empty() && request.algorithm != exchange.name)
            continue;
        const std::string title =
            fmt::format("{}, {}x{} tiles", exchange.name, grid.columns, grid.rows);
        all.push_back(
            {std::string(exchange.name), title,
             all_programs(request, title, [&](int rank) { return exchange.program(grid, rank); }),
             claim_of(exchange, grid)});
    }
    return all;
}

struct Family {
    std::string_view name;
    std::vector<NamedSchedule> (*schedules)(const ScheduleRequest& request);
};

constexpr Family families[] = {{"compositing", compositing_schedules},
                               {"scan", scan_schedules},
                               {"collective", collective_schedules},
                               {"halo", halo_schedules}};

} // namespace

std::vector<std::string_view> family_names() {
    std::vector<std::string_view> names;
    for (const Family& family : families)
        names.push_back(family.name);
    return names;
}

std::vector<NamedSchedule> all_schedules(const ScheduleRequest& request) {
    return find_by_name<Family>("family", request.family, families).schedules(request);
}

NamedSchedule make_schedule(const ScheduleRequest& request) {
    ScheduleRequest one = request;
    if (request.family == "compositing") {
        if (request.algorithm.empty())
            one.algorithm = compositing::catalogue().front().name;
        one.radices =
            planner::choose_by_name(one.algorithm, request.radices, request.ranks).tuning.radices;
    }
    return all_schedules(one).front();
}

} // namespace sextant::operation
