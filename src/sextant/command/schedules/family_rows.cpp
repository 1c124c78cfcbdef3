// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/scatter_gather.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/text.hpp"
#include "sextant/halo/exchange.hpp"
#include "sextant/halo/redistribution.hpp"
#include "sextant/halo/stencil.hpp"
#include "sextant/planner/compositing_plan.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/strategies.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// Returns a schedule without a grid of submachines; `program` returns the program of a rank.
NamedSchedule named(std::string_view name, const std::string& title, const ScheduleRequest& request,
                    const std::function<Program(int rank)>& program, Claim claim) {
    return {std::string(name), title, all_programs(request, title, program), std::move(claim), {}};
}

/// Checks that symbol i is element i of operand 0. Returns the error, or "".
std::string judge(const std::vector<Symbol>& result, Elements count) {
    if (static_cast<Elements>(result.size()) != count)
        return fmt::format("{} elements, expected {}", result.size(), count);
    for (std::size_t e = 0; e < result.size(); ++e) {
        const Symbol& s = result[e];
        if (s.element != static_cast<Elements>(e) || s.first != 0 || s.last != 1)
            return fmt::format("element {} wrongly holds operands [{}, {}) of element {}", e,
                               s.first, s.last, s.element);
    }
    return "";
}

NamedSchedule collective_schedule(const collective::Algorithm& algorithm,
                                  const ScheduleRequest& request) {
    const Grid grid = algorithm.grid(request.ranks, request.elements);
    const std::string name(algorithm.name);
    const std::optional<double> value =
        algorithm.parameter == "gamma" ? request.gamma : request.alpha;
    std::string title = name;
    if (value)
        title += fmt::format(", {} {}", algorithm.parameter, *value);
    if (grid.columns > 1)
        title += fmt::format(", {}x{} processors", grid.columns, grid.rows);
    const auto program = [=](int rank) {
        return value ? algorithm.program_with(grid, rank, *value) : algorithm.program(grid, rank);
    };
    NamedSchedule made{name, title, all_programs(request, title, program), algorithm.claim(grid),
                       grid};
    // Tiles of an image are not the blocks of a schedule file, unless they are whole rows.
    if (grid.columns == 1 || algorithm.what == CollectiveKind::broadcast ||
        algorithm.what == CollectiveKind::all_to_all)
        made.kind = algorithm.what;
    made.commutative = algorithm.commutative;
    return made;
}

NamedSchedule linear_gather(const ScheduleRequest& request) {
    const Elements n = request.elements;
    const int p = request.ranks;
    std::vector<Elements> counts;
    for (int rank = 0; rank < p; ++rank)
        counts.push_back(n * (rank + 1) / p - n * rank / p);
    const auto blocks = collective::Partition::blocks(counts);
    Claim claim;
    claim.given = [=](int rank, int, Elements e) { return Symbol{n * rank / p + e, 0, 1, 0}; };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        return judge(result, rank == 0 ? n : 0);
    };
    return named(
        "linear-gather", "linear-gather", request,
        [=](int rank) { return collective::flat_gather(blocks, rank); }, std::move(claim));
}

} // namespace

Family collective_family() {
    Family family{.name = "collective"};
    for (const auto rows : {collective::catalogue(), collective::reductions()}) {
        for (const collective::Algorithm& row : rows) {
            family.add(row.name, row.summary, row.source);
            family.configurations.push_back({row.name, [&row](const auto& request) {
                                                 return collective_schedule(row, request);
                                             }});
        }
    }
    family.add("linear-gather", "rank 0 receives from every other rank",
               "Chan et al. 2007, doi:10.1002/cpe.1206", linear_gather);
    return family;
}

namespace {

NamedSchedule compositing_schedule(const compositing::Algorithm& algorithm,
                                   const compositing::Tuning& tuning,
                                   const ScheduleRequest& request) {
    const auto task = compositing::one_image_each(request.ranks, request.elements, request.root);
    compositing::Seat seat{task}; // each rank's position is its number
    const std::string title = compositing::Configuration{&algorithm, tuning}.text();
    NamedSchedule made = named(
        algorithm.name, title, request,
        [=](int rank) mutable {
            seat.rank = rank;
            return compositing::program(algorithm, seat, tuning);
        },
        compositing::claim(algorithm, task, tuning));
    if (request.root == 0)
        made.kind = CollectiveKind::reduce;
    return made;
}

Configuration configuration(const compositing::Algorithm& algorithm,
                            const compositing::Tuning& tuning) {
    return {algorithm.name, [&algorithm, tuning](const ScheduleRequest& request) {
                return compositing_schedule(algorithm, tuning, request);
            }};
}

/// Returns the algorithm with the requested tuning, and defaults for unspecified parameters.
Configuration chosen(const std::string& algorithm, const ScheduleRequest& request) {
    const planner::CompositingPlan plan =
        planner::choose_by_name(algorithm, request.tuning, request.ranks);
    return configuration(*plan.configuration.algorithm, plan.configuration.tuning);
}

/// Returns all configurations or, if the request has a tuning, only those of algorithms that use
/// it.
std::vector<Configuration> configurations_for(const ScheduleRequest& request) {
    std::vector<Configuration> configurations;
    const bool tuned = request.tuning != compositing::Tuning{};
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        if (!request.algorithm.empty() && request.algorithm != algorithm.name)
            continue;
        if (!tuned) {
            for (const compositing::Tuning& tuning : algorithm.tunings(request.ranks))
                configurations.push_back(configuration(algorithm, tuning));
        } else if (!request.algorithm.empty() || (planner::takes(algorithm, request.tuning) &&
                                                  !algorithm.tunings(request.ranks).empty())) {
            configurations.push_back(chosen(std::string(algorithm.name), request));
        }
    }
    return configurations;
}

Configuration usual(const ScheduleRequest& request) {
    if (!request.algorithm.empty())
        return chosen(request.algorithm, request);
    return chosen(!request.tuning.radices.empty() ? "radix-k"
                  : request.tuning.window > 0     ? "shift-based"
                                                  : "direct-send",
                  request);
}

} // namespace

Family compositing_family() {
    Family family{.name = "compositing", .configurations_for = configurations_for, .usual = usual};
    for (const compositing::Algorithm& row : compositing::catalogue())
        family.algorithms.push_back({family.name, row.name, row.summary, row.takes, row.source});
    return family;
}

namespace {

/// Returns the grid of one tile per rank that is closest to square, on an image of about
/// `request.elements` pixels.
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

/// A halo exchange, and the padded tile that a rank's buffer holds.
struct HaloExchange {
    std::string_view name, summary;
    Program (*program)(const halo::Grid& grid, int rank);
    halo::Tile (*held)(const halo::Grid& grid, int rank);
};

constexpr HaloExchange halo_exchanges[] = {
    {"exchange", "exchange of tile margins with eight neighbours", halo::exchange,
     halo::padded_tile},
    {"axis-exchange", "exchange of tile margins along one axis, then along the other",
     halo::axis_exchange, halo::clipped_tile}};

/// Claims that each pixel in the margin has the neighbour's value, if the pixel is inside the
/// image.
Claim claim_of(const HaloExchange& exchange, const halo::Grid& grid) {
    // Returns the image pixel of element e of a rank's buffer; undefined outside the image.
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

NamedSchedule halo_schedule(const HaloExchange& exchange, const ScheduleRequest& request) {
    const halo::Grid grid = grid_of(request);
    const std::string title =
        fmt::format("{}, {}x{} tiles", exchange.name, grid.columns, grid.rows);
    return named(
        exchange.name, title, request, [=](int rank) { return exchange.program(grid, rank); },
        claim_of(exchange, grid));
}

/// Schedules a filter with two output images, collected on rank 0: exchange, computation and
/// gather.
NamedSchedule stencil_schedule(const ScheduleRequest& request) {
    const halo::Stencil stencil{.grid = grid_of(request), .planes = 2, .collects = true};
    const std::string title =
        fmt::format("stencil, {}x{} tiles", stencil.grid.columns, stencil.grid.rows);
    return named(
        "stencil", title, request, [=](int rank) { return halo::stencil(stencil, rank); },
        halo::claim(stencil));
}

/// Redistributes strips of rows to tiles with margins.
NamedSchedule redistribution_schedule(const ScheduleRequest& request) {
    const halo::Grid to = grid_of(request);
    const Grid from{to.width, to.height, 1, to.ranks()};
    const std::string title =
        fmt::format("redistribution, strips to {}x{} tiles", to.columns, to.rows);
    return named(
        "redistribution", title, request,
        [=](int rank) { return halo::redistribution(from, to, rank); },
        halo::redistribution_claim(from, to));
}

} // namespace

Family halo_family() {
    Family family{.name = "halo"};
    for (const HaloExchange& row : halo_exchanges) {
        family.add(row.name, row.summary, "the ghost-cell pattern");
        family.configurations.push_back(
            {row.name, [&row](const auto& request) { return halo_schedule(row, request); }});
    }
    family.add("stencil",
               "exchange of tile margins, then a filter on each tile; rank 0 collects the results",
               "the ghost-cell pattern", stencil_schedule);
    family.add("redistribution",
               "strips of rows are redistributed to tiles with margins around them", "all-to-all",
               redistribution_schedule);
    return family;
}

namespace {

/// Schedules the merging of lists. Each element is a list of any length, so the size of the image
/// does not matter.
NamedSchedule merging_schedule(const contour::Pattern& pattern, const ScheduleRequest& request) {
    const Grid grid = near_square(request.ranks, request.elements, request.elements);
    const std::string title = fmt::format("{}, {}x{} tiles", pattern.name, grid.columns, grid.rows);
    return named(
        pattern.name, title, request,
        [=](int rank) { return contour::program(pattern, grid, rank); },
        contour::claim(pattern, grid));
}

} // namespace

Family merging_family() {
    Family family{.name = "merging"};
    for (const contour::Pattern& row : contour::catalogue()) {
        family.add(row.name, row.summary, row.source);
        family.configurations.push_back(
            {row.name, [&row](const auto& request) { return merging_schedule(row, request); }});
    }
    return family;
}

namespace {

NamedSchedule scan_schedule(const scan::Algorithm& algorithm, const scan::Tuning& tuning,
                            scan::Form form, const ScheduleRequest& request) {
    const scan::Task task{request.ranks, request.elements, form};
    const std::string title =
        fmt::format("{}, {}", scan::to_text(algorithm, tuning), scan::name(form));
    NamedSchedule made = named(
        algorithm.name, title, request,
        [=](int rank) { return scan::program(algorithm, task, tuning, rank); }, scan::claim(task));
    made.kind =
        form == scan::Form::inclusive ? CollectiveKind::scan : CollectiveKind::exclusive_scan;
    return made;
}

/// Schedules a scan of `request.elements` values, divided among the ranks as evenly as possible.
NamedSchedule series_schedule(const scan::Strategy& strategy, const scan::GlobalScan& global,
                              const ScheduleRequest& request) {
    const scan::Series series = scan::even_blocks(request.elements, request.ranks);
    const std::string title =
        fmt::format("{} over {}", strategy.name, scan::to_text(global.algorithm, global.tuning));
    return named(
        strategy.name, title, request,
        [=](int rank) { return scan::program(strategy, series, global, rank); },
        scan::claim(series));
}

} // namespace

Family scan_family() {
    Family family{.name = "scan"};
    for (const scan::Algorithm& row : scan::catalogue()) {
        family.add(row.name, row.summary, row.source);
        for (const scan::Tuning& tuning : row.tunings()) {
            for (const scan::Form form : scan::forms_of(row)) {
                family.configurations.push_back(
                    {row.name, [&row, tuning, form](const auto& request) {
                         return scan_schedule(row, tuning, form, request);
                     }});
            }
        }
    }
    return family;
}

Family series_family() {
    Family family{.name = "series"};
    for (const scan::Strategy& row : scan::strategies()) {
        family.add(row.name, row.summary, row.source);
        for (const scan::Algorithm& algorithm : scan::catalogue()) {
            for (const scan::Tuning& tuning : algorithm.tunings()) {
                family.configurations.push_back(
                    {row.name, [&row, &algorithm, tuning](const auto& request) {
                         return series_schedule(row, {algorithm, tuning}, request);
                     }});
            }
        }
    }
    return family;
}

} // namespace sextant::command
