// SPDX-License-Identifier: BSD-3-Clause
// Whole programs of a filter that only moves pixels, so that its outputs are known pixel by pixel:
// what lies around a tile comes into it, at a place of its own for each filter. Every second output
// is the tile as it was, so that whatever ranks received is in the outputs of one filter; of more,
// it cannot be, since a tile has no room for all that came.
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/filtering/filter_program.hpp"
#include "sextant/halo/exchange.hpp"

#include <numeric>
#include <vector>

#include "tests/support/schedules.hpp"

namespace sextant::test {

struct Pixel {
    Elements x = 0, y = 0;
};

/// What lies around a tile, row by row.
inline std::vector<Pixel> around(const Tile& tile, const Tile& held) {
    std::vector<Pixel> pixels;
    for (Elements y = held.y; y < held.y + held.height; ++y) {
        for (Elements x = held.x; x < held.x + held.width; ++x) {
            const bool within =
                x >= tile.x && x < tile.x + tile.width && y >= tile.y && y < tile.y + tile.height;
            if (!within)
                pixels.push_back({x, y});
        }
    }
    return pixels;
}

/// Steps of such a filter, of one rank.
struct MovingFilter {
    const filtering::Task& task;
    Grid grid;
    int rank;

    Tile held(int filter) const {
        const Elements margin = task.margins[static_cast<std::size_t>(filter)];
        return halo::clipped_tile({{grid}, margin}, rank);
    }

    /// Where, in the tile, the i-th of what lies around goes: behind what earlier filters brought.
    Elements place(int filter, int output, std::size_t i, std::size_t count) const {
        Elements before = 0;
        for (int earlier = 0; earlier < filter; ++earlier)
            before += held(earlier).elements() - tile(grid, rank).elements();
        const auto turned = (i + static_cast<std::size_t>(output)) % count;
        return before + static_cast<Elements>(turned);
    }

    void operator()(ProgramBuilder& builder, const filtering::Work& work) const {
        const std::vector<Pixel> margin = around(work.tile, work.held);
        for (std::size_t output = 0; output < work.made.size(); ++output) {
            const Region& made = work.made[output];
            builder.copy(made, collective::region_of(work.held, work.tile, work.source.buffer));
            for (std::size_t i = 0; i < margin.size() && output % 2 == 0; ++i) {
                const Elements there =
                    (margin[i].y - work.held.y) * work.held.width + margin[i].x - work.held.x;
                const Elements to = place(work.filter, static_cast<int>(output), i, margin.size());
                builder.copy(block(made.buffer, made.at(to), 1),
                             block(work.source.buffer, work.source.at(there), 1));
            }
        }
    }

    /// The same on a whole image.
    void apply(int filter, int output, const std::vector<Elements>& from,
               std::vector<Elements>& to) const {
        const Tile own = tile(grid, rank);
        const std::vector<Pixel> margin = around(own, held(filter));
        const Region lies = collective::region_of({0, 0, grid.width, grid.height}, own, 0);
        for (std::size_t i = 0; i < margin.size() && output % 2 == 0; ++i) {
            const Elements there = margin[i].y * grid.width + margin[i].x;
            to[static_cast<std::size_t>(lies.at(place(filter, output, i, margin.size())))] =
                from[static_cast<std::size_t>(there)];
        }
    }
};

/// What each output of a task is, as pixels of the image.
inline std::vector<std::vector<Elements>> filtered(const filtering::Task& task,
                                                   const filtering::Way& way) {
    const Grid grid = filtering::grid_of(task, way);
    std::vector<Elements> image(static_cast<std::size_t>(task.width * task.height));
    std::iota(image.begin(), image.end(), Elements{0});
    const auto pass = [&](int filter, int output) {
        std::vector<Elements> made = image;
        for (int rank = 0; rank < grid.ranks(); ++rank)
            MovingFilter{task, grid, rank}.apply(filter, output, image, made);
        return made;
    };
    const int last = static_cast<int>(task.margins.size()) - 1;
    for (int filter = 0; filter < last; ++filter)
        image = pass(filter, 0);
    std::vector<std::vector<Elements>> outputs;
    for (int output = 0; output < task.outputs; ++output)
        outputs.push_back(pass(last, output));
    return outputs;
}

/// The pixels that a rank is to end with.
inline std::vector<Elements> wanted_by(const filtering::Task& task, const filtering::Way& way,
                                       int rank) {
    const Grid grid = filtering::grid_of(task, way);
    const Collective ends = !way.collect ? Collective::scatter : Collective::gather;
    const Region part = collective::pixels_after(ends, grid, rank);
    std::vector<Elements> pixels;
    for (const std::vector<Elements>& output : filtered(task, way)) {
        for (Elements e = 0; e < part.elements(); ++e)
            pixels.push_back(output[static_cast<std::size_t>(part.at(e))]);
    }
    return pixels;
}

/// The pixels that a rank begins with.
inline Region given_to(const filtering::Task& task, const filtering::Way& way, int rank) {
    const Grid grid = filtering::grid_of(task, way);
    return collective::pixels_before(way.distribute ? way.distribute->what : Collective::gather,
                                     grid, rank);
}

inline Case filter_case(const filtering::Task& task, const filtering::Way& way) {
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        return Symbol{given_to(task, way, rank).at(e), 0, 1, 0};
    };
    claim.wanted = exactly([=](int rank) {
        std::vector<Symbol> symbols;
        for (const Elements pixel : wanted_by(task, way, rank))
            symbols.push_back({pixel, 0, 1, 0});
        return symbols;
    });
    const Grid grid = filtering::grid_of(task, way);
    return {fmt::format("{} filters of {}x{}, {} outputs: {}", task.margins.size(), task.width,
                        task.height, task.outputs, way.text()),
            make_schedule(
                way.ranks(),
                [&](int rank) {
                    return filtering::program(task, way, rank, MovingFilter{task, grid, rank});
                }),
            claim};
}

/// Each grid with each scatter and each gather, though not with all of both. (A broadcast brings
/// ranks what they never use, which is no proof.)
inline std::vector<filtering::Way> usual_ways(int ranks, bool collect) {
    const auto* gather = collect ? &collective::find("binomial-gather") : nullptr;
    std::vector<filtering::Way> ways;
    for (const filtering::Way& grid : filtering::grids_of(ranks)) {
        ways.push_back({grid.columns, grid.rows, nullptr, gather});
        for (const collective::Algorithm& row : collective::catalogue()) {
            if (row.what == Collective::scatter)
                ways.push_back({grid.columns, grid.rows, &row, gather});
            else if (row.what == Collective::gather && collect)
                ways.push_back({grid.columns, grid.rows, &collective::find("flat-scatter"), &row});
        }
    }
    return ways;
}

} // namespace sextant::test
