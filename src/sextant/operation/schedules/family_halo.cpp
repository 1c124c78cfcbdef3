// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/names.hpp"
#include "sextant/halo/axis_exchange.hpp"
#include "sextant/halo/exchange.hpp"
#include "sextant/halo/redistribution.hpp"
#include "sextant/halo/stencil.hpp"
#include "sextant/operation/schedules/family.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

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
    std::string_view name, summary;
    Program (*program)(const halo::Grid& grid, int rank);
    halo::Tile (*held)(const halo::Grid& grid, int rank);
};

constexpr HaloExchange halo_exchanges[] = {
    {"exchange", "tiles and the margins around them, from eight neighbours", halo::exchange,
     halo::padded_tile},
    {"axis-exchange", "the same along one axis after the other", halo::axis_exchange,
     halo::clipped_tile}};

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

NamedSchedule halo_schedule(const HaloExchange& exchange, const ScheduleRequest& request) {
    const halo::Grid grid = grid_of(request);
    const std::string title =
        fmt::format("{}, {}x{} tiles", exchange.name, grid.columns, grid.rows);
    return {std::string(exchange.name),
            title,
            all_programs(request, title, [&](int rank) { return exchange.program(grid, rank); }),
            claim_of(exchange, grid),
            {}};
}

/// A filter that makes two images of one, collected on rank 0: exchange, computation and gather.
NamedSchedule stencil_schedule(const ScheduleRequest& request) {
    const halo::Stencil stencil{.grid = grid_of(request), .planes = 2, .collects = true};
    const std::string title =
        fmt::format("stencil, {}x{} tiles", stencil.grid.columns, stencil.grid.rows);
    return {"stencil",
            title,
            all_programs(request, title, [&](int rank) { return halo::stencil(stencil, rank); }),
            halo::claim(stencil),
            {}};
}

/// From strips of rows to tiles and the pixels around them.
NamedSchedule redistribution_schedule(const ScheduleRequest& request) {
    const halo::Grid to = grid_of(request);
    const Grid from{to.width, to.height, 1, to.ranks()};
    const std::string title =
        fmt::format("redistribution, strips to {}x{} tiles", to.columns, to.rows);
    return {"redistribution",
            title,
            all_programs(request, title,
                         [&](int rank) { return halo::redistribution(from, to, rank); }),
            halo::redistribution_claim(from, to),
            {}};
}

} // namespace

Family halo_family() {
    Family family{.name = "halo"};
    for (const HaloExchange& row : halo_exchanges) {
        family.add(row.name, row.summary, "the ghost-cell pattern");
        family.ways.push_back(
            {row.name, [&row](const auto& request) { return halo_schedule(row, request); }});
    }
    family.add("stencil", "the same, a filter of the tiles, and its results on rank 0",
               "the ghost-cell pattern", stencil_schedule);
    family.add("redistribution", "strips of rows become tiles with the margins around them",
               "everyone to everyone", redistribution_schedule);
    return family;
}

} // namespace sextant::operation
