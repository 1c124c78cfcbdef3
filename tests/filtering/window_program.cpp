// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filtering/window_program.hpp"

#include "sextant/core/error.hpp"

#include "tests/support/message_of.hpp"
#include "tests/support/schedules.hpp"
#include <gmock/gmock.h>

namespace sextant::filtering {
namespace {

/// A window of `rows` rows starting at row `first`, in an image of 13 × 31, for filters with these
/// margins. Each filter also computes the rows that the next one needs.
WindowTask task_of(const Configuration& configuration, const std::vector<halo::Margin>& margins,
                   Elements first, Elements rows) {
    constexpr Elements width = 13, height = 31;
    WindowTask task;
    Elements last = first + rows;
    for (auto margin = margins.rbegin(); margin != margins.rend(); ++margin) {
        halo::Stencil filter;
        const Tiles tiles = configuration.tiles_of(static_cast<int>(margins.rend() - margin) - 1);
        filter.grid.width = width, filter.grid.height = last - first;
        filter.grid.columns = tiles.columns, filter.grid.rows = tiles.rows;
        filter.grid.margin = *margin;
        filter.grid.above = std::min(first, margin->y);
        filter.grid.below = std::min(height - last, margin->y);
        filter.planes = margin == margins.rbegin() ? 2 : 1;
        first -= filter.grid.above, last += filter.grid.below;
        task.filters.insert(task.filters.begin(), filter);
    }
    return task;
}

const std::vector<std::vector<halo::Margin>> chains = {{2}, {{1, 3}, 2}, {1, {2, 1}, 0}};

/// Configurations with every scatter and one gather, with every gather and one scatter, and with
/// neither scatter nor gather.
std::vector<Configuration> configurations_of(int ranks) {
    std::vector<Configuration> configurations;
    for (Configuration configuration : grids_of(ranks)) {
        configurations.push_back(configuration);
        for (const collective::Algorithm& row : collective::catalogue()) {
            configuration.distribute = row.what == CollectiveKind::scatter ? &row : nullptr;
            configuration.collect = row.what == CollectiveKind::gather ? &row : nullptr;
            configuration.packs = !configuration.packs;
            if (configuration.distribute || configuration.collect)
                configurations.push_back(configuration);
        }
    }
    return configurations;
}

void expect_proof(const WindowTask& task, const Configuration& configuration) {
    EXPECT_EQ(prove(window_schedule(task, configuration), claim(task, configuration)).error, "")
        << configuration.text() << ", " << task.filters.size() << " filters, "
        << task.filters.front().grid.above << " rows above";
}

TEST(WindowProgram, is_proved_for_any_chain_of_filters_and_any_window) {
    for (const int ranks : {1, 2, 3, 6}) {
        for (const Configuration& configuration : configurations_of(ranks)) {
            for (const auto& margins : chains) {
                expect_proof(task_of(configuration, margins, 0, 31), configuration);
                expect_proof(task_of(configuration, margins, 8, 9), configuration);
            }
        }
    }
}

/// A window of `planes` planes starting at plane `first`, in a volume of 9 × 5 × 8.
WindowTask volume_task_of(const Configuration& configuration,
                          const std::vector<halo::Margin>& margins, Elements first,
                          Elements planes) {
    constexpr Elements depth = 8;
    WindowTask task;
    Elements last = first + planes;
    for (std::size_t k = margins.size(); k-- > 0;) {
        const Tiles tiles = configuration.tiles_of(static_cast<int>(k));
        halo::Stencil filter;
        filter.grid = halo::Grid(
            sextant::Grid{9, 5, tiles.columns, tiles.rows, last - first, tiles.layers}, margins[k]);
        filter.grid.before = std::min(first, margins[k].z);
        filter.grid.after = std::min(depth - last, margins[k].z);
        filter.planes = k + 1 == margins.size() ? 2 : 1;
        first -= filter.grid.before, last += filter.grid.after;
        task.filters.insert(task.filters.begin(), filter);
    }
    return task;
}

TEST(WindowProgram, is_proved_for_any_window_and_any_boxes_of_a_volume) {
    for (const int ranks : {1, 2, 6, 8}) {
        for (Configuration configuration : boxes_of(ranks)) {
            for (const collective::Algorithm& row : collective::catalogue()) {
                configuration.distribute = row.what == CollectiveKind::scatter ? &row : nullptr;
                configuration.collect = row.what == CollectiveKind::gather ? &row : nullptr;
                configuration.packs = !configuration.packs;
                for (const auto& margins :
                     {std::vector<halo::Margin>{{1, 2, 3}}, {{1, 0, 1}, {2, 1, 1}}}) {
                    if (row.what != CollectiveKind::scatter && row.what != CollectiveKind::gather)
                        break;
                    expect_proof(volume_task_of(configuration, margins, 0, 8), configuration);
                    expect_proof(volume_task_of(configuration, margins, 3, 2), configuration);
                }
            }
        }
    }
}

TEST(WindowProgram, is_proved_if_the_boxes_of_a_volume_change_between_filters) {
    for (const Configuration& from : boxes_of(6)) {
        for (const Configuration& to : boxes_of(6)) {
            Configuration configuration = from;
            configuration.retilings = {{1, to.columns, to.rows, to.layers}};
            const std::vector<halo::Margin> margins = {{1, 1, 2}, {2, 1, 1}};
            expect_proof(volume_task_of(configuration, margins, 0, 8), configuration);
            expect_proof(volume_task_of(configuration, margins, 5, 1), configuration);
        }
    }
}

TEST(WindowProgram, of_a_volume_must_consist_of_whole_planes) {
    WindowTask task = volume_task_of({}, {{1, 1, 1}}, 2, 3);
    task.filters[0].grid.above = 1;
    EXPECT_THROW(window_program(task, {}, 0), InvalidTask);
}

TEST(WindowProgram, is_proved_for_tiles_smaller_than_the_margin) {
    for (const int columns : {1, 7}) {
        Configuration configuration{columns, 7 / columns};
        for (const char* scatter : {"", "flat-scatter"}) {
            configuration.distribute = *scatter ? &collective::find(scatter) : nullptr;
            expect_proof(task_of(configuration, {4, {3, 5}}, 0, 31), configuration);
            expect_proof(task_of(configuration, {4, {3, 5}}, 12, 3), configuration);
        }
    }
}

/// Changes to each grid of all ranks or of all but one, before a single filter or before every
/// filter.
std::vector<std::vector<Retiling>> retilings_of(int ranks, int filters) {
    std::vector<std::vector<Retiling>> all;
    for (const int count : {ranks, ranks - 1}) {
        for (const Configuration& grid : grids_of(count)) {
            for (int filter = 1; filter < filters; ++filter)
                all.push_back({{filter, grid.columns, grid.rows}});
            if (filters > 2)
                all.push_back({{1, grid.columns, grid.rows}, {2, ranks, 1}});
        }
    }
    return all;
}

TEST(WindowProgram, is_proved_if_the_grid_changes_between_filters) {
    for (const int ranks : {2, 3, 6}) {
        for (const int first : {ranks, ranks - 1}) {
            for (const Configuration& grid : grids_of(first)) {
                for (const auto& retilings : retilings_of(ranks, 3)) {
                    Configuration configuration{grid.columns, grid.rows, nullptr,
                                                nullptr,      false,     retilings};
                    expect_proof(task_of(configuration, chains[2], 0, 31), configuration);
                    expect_proof(task_of(configuration, chains[2], 8, 9), configuration);
                    expect_proof(task_of(configuration, {4, {3, 5}, 7}, 12, 3), configuration);
                }
            }
        }
    }
}

TEST(WindowProgram, is_proved_for_changing_grids_with_every_scatter_and_gather) {
    for (Configuration configuration : configurations_of(6)) {
        for (const auto& retilings : retilings_of(6, 2)) {
            configuration.retilings = retilings;
            expect_proof(task_of(configuration, chains[1], 0, 31), configuration);
        }
    }
    // A later step may use more ranks than the first.
    for (Configuration configuration : configurations_of(4)) {
        configuration.retilings = {{1, 2, 3}};
        expect_proof(task_of(configuration, chains[1], 8, 9), configuration);
    }
}

TEST(WindowProgram, exchanges_borders_only_if_the_grid_is_unchanged) {
    const auto messages = [](const std::vector<Retiling>& retilings) {
        const Configuration configuration{2, 2, nullptr, nullptr, false, retilings};
        WindowTask task = task_of(configuration, {1, 1}, 0, 31);
        task.collect = false;
        int sent = 0;
        for (const Program& program : window_schedule(task, configuration)) {
            for (const Step& step : program.steps)
                sent += step.verb == Verb::send;
        }
        return sent;
    };
    EXPECT_EQ(messages({}), 2 * 4 * 3); // each tile with three neighbours, before each filter
    EXPECT_EQ(messages({{1, 2, 2}}), 2 * 4 * 3) << "the same tiles again are no change";
    // Pixels of the outer columns are in two of the tiles; those of the inner columns, with a
    // margin of one pixel, are in all four.
    EXPECT_EQ(messages({{1, 4, 1}}), 4 * 3 + 1 + 3 + 3 + 1);
}

TEST(WindowProgram, leaves_unchanged_tiles_in_place) {
    for (const Configuration& configuration : grids_of(6)) {
        WindowTask task = task_of(configuration, {2, 3}, 5, 20);
        task.collect = false;
        expect_proof(task, configuration);
    }
}

TEST(WindowProgram, is_refused_if_it_exchanges_one_pixel_too_few) {
    const Configuration configuration{2, 3, &collective::find("flat-scatter")};
    WindowTask task = task_of(configuration, {2, 2}, 0, 31);
    const Claim meant = claim(task, configuration);
    task.filters[1].grid.margin = 1;
    EXPECT_THAT(prove(window_schedule(task, configuration), meant).error,
                testing::HasSubstr("from the wrong input pixels"));
}

TEST(WindowProgram, sends_an_8_bit_image_as_bytes) {
    const Configuration configuration{1, 2, &collective::find("flat-scatter"),
                                      &collective::find("flat-gather"), true};
    WindowTask task = task_of(configuration, {2}, 8, 9);
    task.filters[0].sample = 1;
    for (const Program& program : window_schedule(task, configuration)) {
        for (const Step& step : program.steps) {
            if (step.verb == Verb::copy) {
                EXPECT_EQ(program.element_size(step.to.buffer, 4),
                          program.element_size(program.regions_of(step)[0].buffer, 4));
            }
            if (is_message(step.verb) && step.round == 0) {
                EXPECT_EQ(program.element_size(program.regions_of(step)[0].buffer, 4), 1);
            }
        }
    }
    expect_proof(task, configuration);
}

TEST(WindowProgram, packs_only_strided_messages) {
    const auto pieces = [](const Configuration& configuration) {
        int in_pieces = 0;
        for (const Program& program :
             window_schedule(task_of(configuration, {2}, 0, 31), configuration)) {
            for (const Step& step : program.steps) {
                const auto regions = program.regions_of(step);
                in_pieces += is_message(step.verb) && !regions[0].contiguous();
            }
        }
        return in_pieces;
    };
    EXPECT_GT(pieces({2, 2}), 0);
    EXPECT_EQ(pieces({2, 2, nullptr, nullptr, true}), 0);
}

void refuses(const WindowTask& task, const Configuration& configuration, const std::string& text) {
    EXPECT_THAT(test::message_of<InvalidTask>([&] { window_program(task, configuration, 0); }),
                testing::HasSubstr(text));
}

TEST(WindowProgram, is_refused_with_the_reason_if_invalid) {
    const Configuration configuration{2, 2};
    EXPECT_NO_THROW(window_program(task_of(configuration, {1, 1}, 0, 31), configuration, 0));
    refuses({}, configuration, "no filter");
    refuses(task_of({1, 4}, {1}, 0, 31), configuration, "expected 2x2");
    refuses(task_of(configuration, {1, 1}, 0, 31), {2, 2, {}, {}, false, {{1, 4, 1}}},
            "filter 1 on 2x2 tiles, expected 4x1");
    for (const std::vector<Retiling>& wrong :
         {std::vector<Retiling>{{0, 4, 1}}, {{2, 4, 1}}, {{1, 4, 1}, {1, 1, 4}}})
        refuses(task_of(configuration, {1, 1}, 0, 31), {2, 2, {}, {}, false, wrong},
                "expected filters from 2 to ");
    refuses(task_of(configuration, {1, 1}, 0, 31), {2, 2, {}, {}, false, {{1, 0, 4}}},
            "0x4 tiles: expected 1x1 or more");
    WindowTask many = task_of(configuration, {1, 1}, 0, 31);
    many.filters[0].planes = 2;
    refuses(many, configuration, "produces 2 planes, expected 1");
    WindowTask rows = task_of(configuration, {1, 1}, 5, 9);
    rows.filters[0].grid.height = 9;
    refuses(rows, configuration, "reads 11 rows, but the previous filter produces 9");
    refuses(task_of(configuration, {1}, 0, 31), {2, 2, &collective::find("flat-gather")},
            "flat-gather cannot distribute: it performs gather");
}

} // namespace
} // namespace sextant::filtering
