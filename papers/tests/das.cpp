// SPDX-License-Identifier: BSD-3-Clause
// Tables derived from Table 1 of the P-3PC paper, and the schedules to which they apply.
#include "sextant/collective/catalogue.hpp"
#include "sextant/halo/exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "papers/p3pc.hpp"
#include "tests/model/machines.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using namespace papers;
using machine::Layout;
using machine::Path;

Schedule collective_schedule(const char* name, const Grid& grid) {
    return make_schedule(grid.ranks(),
                         [&](int rank) { return collective::find(name).program(grid, rank); });
}

/// Milliseconds that a model predicts for a collective on DAS.
double milliseconds(const char* model, const char* algorithm, const Grid& grid) {
    static const machine::Profile das = shipped_machine("das");
    return 1e3 * predicted(model, collective_schedule(algorithm, grid), das, 4);
}

struct Row {
    const char* algorithm;
    std::array<double, 5> p3pc; ///< by grid, ms
    double loggp_star;
};

const Row table[] = {{"flat-scatter", {20.74, 29.13, 29.13, 29.13, 29.13}, 21.81},
                     {"binomial-scatter", {25.22, 25.95, 27.36, 30.90, 39.81}, 25.22},
                     {"flat-gather", {27.03, 45.07, 45.07, 45.07, 45.07}, 21.81},
                     {"binomial-gather", {28.38, 29.58, 31.99, 36.79, 46.36}, 25.22}};

TEST(Das, scatter_and_gather_follow_the_formulas_of_the_paper) {
    for (const Row& row : table) {
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_NEAR(milliseconds("p3pc", row.algorithm, das_grids[i]), row.p3pc[i], .005)
                << row.algorithm << " on " << das_grids[i].columns << " columns";
        }
    }
}

TEST(Das, loggp_star_predicts_the_same_for_all_grids) {
    for (const Row& row : table) {
        for (const Grid& grid : das_grids) {
            EXPECT_NEAR(milliseconds("loggp-star", row.algorithm, grid), row.loggp_star, .005)
                << row.algorithm;
        }
    }
}

TEST(Das, the_closed_forms_of_figure_6_give_the_published_tables) {
    const DasCosts p3pc, star(true);
    for (std::size_t i = 0; i < 5; ++i) {
        const Grid& grid = das_grids[i];
        EXPECT_NEAR(flat_tree(p3pc, grid, Path::send, Layout::nc), table[0].p3pc[i], .005);
        EXPECT_NEAR(binomial_tree(p3pc, grid, Path::send, Layout::nc), table[1].p3pc[i], .005);
        EXPECT_NEAR(flat_tree(p3pc, grid, Path::receive, Layout::cn), table[2].p3pc[i], .005);
        EXPECT_NEAR(binomial_tree(p3pc, grid, Path::receive, Layout::cn), table[3].p3pc[i], .005);
        EXPECT_NEAR(flat_tree(star, grid, Path::send, Layout::nc), 21.81, .005);
        EXPECT_NEAR(binomial_tree(star, grid, Path::send, Layout::nc), 25.22, .005);
    }
}

struct BorderRow {
    Elements margin;
    bool loggp_star;
    std::array<double, 5> mended;               ///< by grid, µs
    double published_strips, published_columns; ///< grids 1 × 16 and 16 × 1; 0 if not published
};

// Margins of 4, 12 and 19 pixels belong to sigma = 1, 3 and 5.
const BorderRow borders[] = {{4, false, {441.3, 449.0, 474.1, 683.6, 1043.5}, 561.7, 1124.4},
                             {4, true, {441.3, 369.5, 316.7, 370.6, 441.3}, 0, 0},
                             {12, false, {1155.6, 1114.2, 1211.9, 1779.5, 2914.2}, 1452.4, 3102.9},
                             {12, true, {1155.6, 879.0, 754.4, 888.3, 1155.6}, 0, 0},
                             {19, false, {1780.6, 1721.8, 1853.1, 2751.8, 4551.1}, 2268.3, 4867.3},
                             {19, true, {1780.6, 1354.6, 1142.5, 1354.6, 1780.6}, 0, 0}};

TEST(Das, border_exchange_costs_equal_figure_6_with_and_without_messages_to_absent_neighbours) {
    for (const BorderRow& row : borders) {
        const DasCosts T(row.loggp_star);
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_NEAR(1e3 * border_mended(T, das_grids[i], row.margin), row.mended[i], .06)
                << "margin " << row.margin << ", " << das_grids[i].columns << " columns";
        }
        if (row.loggp_star)
            continue;
        EXPECT_NEAR(1e3 * border_published(T, das_grids[0], row.margin), row.published_strips, .06);
        EXPECT_NEAR(1e3 * border_published(T, das_grids[4], row.margin), row.published_columns,
                    .06);
    }
}

int columns_of_cheapest(double (*border)(const DasCosts&, const Grid&, Elements), const DasCosts& T,
                        Elements margin) {
    return std::min_element(std::begin(das_grids), std::end(das_grids),
                            [&](const Grid& a, const Grid& b) {
                                return border(T, a, margin) < border(T, b, margin);
                            })
        ->columns;
}

TEST(Das, p3pc_prefers_2x8_and_loggp_star_4x4_as_in_the_paper) {
    for (Elements margin : {4, 12, 19}) {
        EXPECT_EQ(columns_of_cheapest(border_published, DasCosts(), margin), 2);
        EXPECT_EQ(columns_of_cheapest(border_published, DasCosts(true), margin), 4);
    }
}

TEST(Das, the_corrected_exchange_is_fastest_in_strips_only_at_sigma_1) {
    EXPECT_EQ(columns_of_cheapest(border_mended, DasCosts(), 4), 1);
    EXPECT_EQ(columns_of_cheapest(border_mended, DasCosts(), 12), 2);
    EXPECT_EQ(columns_of_cheapest(border_mended, DasCosts(), 19), 2);
}

double played_border(const Grid& grid, Elements margin) {
    static const machine::Profile das = shipped_machine("das");
    const halo::Grid tiles{{grid}, margin};
    const Schedule schedule =
        make_schedule(grid.ranks(), [&](int rank) { return halo::axis_exchange(tiles, rank); });
    return 1e3 * predicted("p3pc", schedule, das, 4);
}

TEST(Das, the_exchange_by_axis_costs_as_much_as_in_the_corrected_formula) {
    for (const Grid& grid : das_grids) {
        const DasCosts T;
        // The formula counts corners on both sides, but with two columns a tile has a neighbour on
        // only one side.
        if (grid.columns == 2)
            continue;
        EXPECT_NEAR(played_border(grid, 4), border_mended(T, grid, 4), 1e-6) << grid.columns;
    }
    const Grid two = das_grids[1];
    const DasCosts T;
    EXPECT_NEAR(
        played_border(two, 4),
        2 * T(Path::full, Layout::nn, 4 * 64) + 2 * T(Path::full, Layout::cc, (256 + 4) * 4), 1e-6);
}

TEST(Das, a_receive_that_takes_longer_than_the_full_path_costs_more_than_in_figure_6) {
    // In six cells of Table 1, the full path takes less time than its send or receive alone; the
    // formula uses only the full path.
    const DasCosts T;
    const Elements strip = 19 * 512;
    ASSERT_GT(T(Path::receive, Layout::cc, strip), T(Path::full, Layout::cc, strip));
    EXPECT_NEAR(played_border(das_grids[0], 19), 2 * T(Path::receive, Layout::cc, strip), 1e-6);
    EXPECT_GT(played_border(das_grids[0], 19), 1.15 * border_mended(T, das_grids[0], 19));
}

/// The smallest number of filters for which a grid other than strips is fastest, for a program of
/// one scatter, a border exchange per filter, and `outputs` gathers. 0 if strips are always
/// fastest.
template <class Scatter, class Exchange, class Gather>
int filters_that_end_strips(Scatter scatter, Exchange exchange, Gather gather, int outputs) {
    constexpr int most = 100'000;
    std::array<double, 5> ends{}, each{};
    for (std::size_t i = 0; i < 5; ++i) {
        ends[i] = scatter(das_grids[i]) + outputs * gather(das_grids[i]);
        each[i] = exchange(das_grids[i]);
    }
    for (int filters = 0; filters < most; ++filters) {
        for (std::size_t i = 1; i < 5; ++i) {
            if (ends[i] + filters * each[i] < ends[0] + filters * each[0])
                return filters;
        }
    }
    return 0;
}

TEST(Das, replaying_schedules_favours_strips_for_fewer_filters_than_figure_6) {
    const DasCosts T;
    struct Threshold {
        Elements margin;
        int outputs, predicted, figure_6;
    };
    for (const Threshold& at : {Threshold{19, 1, 22, 132},
                                {19, 5, 51, 306},
                                {12, 1, 41, 188},
                                {12, 5, 95, 434},
                                {4, 1, 0, 0},
                                {4, 5, 0, 0}}) {
        const int predicted = filters_that_end_strips(
            [](const Grid& grid) {
                return std::min(milliseconds("p3pc", "flat-scatter", grid),
                                milliseconds("p3pc", "binomial-scatter", grid));
            },
            [&](const Grid& grid) { return played_border(grid, at.margin); },
            [](const Grid& grid) {
                return std::min(milliseconds("p3pc", "flat-gather", grid),
                                milliseconds("p3pc", "binomial-gather", grid));
            },
            at.outputs);
        const int figure_6 = filters_that_end_strips(
            [&](const Grid& grid) {
                return std::min(flat_tree(T, grid, Path::send, Layout::nc),
                                binomial_tree(T, grid, Path::send, Layout::nc));
            },
            [&](const Grid& grid) { return border_mended(T, grid, at.margin); },
            [&](const Grid& grid) {
                return std::min(flat_tree(T, grid, Path::receive, Layout::cn),
                                binomial_tree(T, grid, Path::receive, Layout::cn));
            },
            at.outputs);
        EXPECT_NEAR(predicted, at.predicted, 1) << at.margin << ", " << at.outputs;
        EXPECT_NEAR(figure_6, at.figure_6, 2) << at.margin << ", " << at.outputs;
    }
}

TEST(Das, six_path_times_in_table_1_are_shorter_than_the_send_or_receive_time) {
    const DasCosts T;
    int cells = 0;
    for (const Layout layout : {Layout::cc, Layout::cn, Layout::nc, Layout::nn}) {
        for (Elements n : {0, 1024, 51200, 102400, 512000}) {
            cells += T(Path::full, layout, n) <
                     std::max(T(Path::send, layout, n), T(Path::receive, layout, n));
        }
    }
    EXPECT_EQ(cells, 6);
}

TEST(Das, margins_on_all_sides_make_strips_more_expensive_by_strided_messages) {
    static const machine::Profile das = shipped_machine("das");
    const halo::Grid tiles{{das_grids[0]}, 4};
    const Schedule schedule =
        make_schedule(16, [&](int rank) { return halo::exchange(tiles, rank); });
    EXPECT_GT(1e3 * predicted("p3pc", schedule, das, 4), played_border(das_grids[0], 4));
    EXPECT_NEAR(1e3 * predicted("loggp-star", schedule, das, 4),
                DasCosts(true)(Path::full, Layout::cc, 4 * 512) +
                    DasCosts(true)(Path::receive, Layout::cc, 4 * 512),
                1e-6)
        << "LogGP* ignores layouts and overlaps both messages";
}

} // namespace
} // namespace sextant::test
