// SPDX-License-Identifier: BSD-3-Clause
// The best distribution of a whole program: scatter, k border exchanges, gathers. Optimising each
// step separately gives a wrong result.
#include "sextant/collective/catalogue.hpp"
#include "sextant/halo/exchange.hpp"

#include <array>

#include "papers/p3pc.hpp"
#include "tests/model/machines.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using namespace papers;
using machine::Layout;
using machine::Path;

/// Times of the parts of a program on one grid, in ms.
struct Parts {
    double scatter, border, gather;

    double total(int exchanges, int gathers) const {
        return scatter + exchanges * border + gathers * gather;
    }
};

using AllParts = std::array<Parts, 5>; ///< by das_grids

AllParts by_figure_6(Elements margin) {
    const DasCosts T;
    AllParts parts{};
    for (std::size_t i = 0; i < 5; ++i) {
        const Grid& grid = das_grids[i];
        parts[i] = {std::min(flat_tree(T, grid, Path::send, Layout::nc),
                             binomial_tree(T, grid, Path::send, Layout::nc)),
                    border_mended(T, grid, margin),
                    std::min(flat_tree(T, grid, Path::receive, Layout::cn),
                             binomial_tree(T, grid, Path::receive, Layout::cn))};
    }
    return parts;
}

AllParts by_playing_schedules(Elements margin) {
    const machine::Profile das = shipped_machine("das");
    const auto replay = [&](const Grid& grid, const auto& program) {
        return 1e3 * predicted("p3pc", make_schedule(grid.ranks(), program), das, 4);
    };
    AllParts parts{};
    for (std::size_t i = 0; i < 5; ++i) {
        const Grid& grid = das_grids[i];
        const halo::Grid tiles{{grid}, margin};
        const auto best = [&](const char* flat, const char* binomial) {
            const auto of = [&](const char* name) {
                return replay(grid,
                              [&](int rank) { return collective::find(name).program(grid, rank); });
            };
            return std::min(of(flat), of(binomial));
        };
        parts[i] = {best("flat-scatter", "binomial-scatter"),
                    replay(grid, [&](int rank) { return halo::axis_exchange(tiles, rank); }),
                    best("flat-gather", "binomial-gather")};
    }
    return parts;
}

int columns_of_best(const AllParts& parts, int exchanges, int gathers) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < 5; ++i) {
        if (parts[i].total(exchanges, gathers) < parts[best].total(exchanges, gathers))
            best = i;
    }
    return das_grids[best].columns;
}

constexpr int never = 100'000;

/// The smallest number of exchanges for which strips are no longer the fastest.
int threshold(const AllParts& parts, int gathers) {
    int k = 0;
    while (k < never && columns_of_best(parts, k, gathers) == 1)
        ++k;
    return k;
}

TEST(WholeProgram, is_fastest_in_strips_until_exchanges_outweigh_scatter_and_gather) {
    EXPECT_NEAR(threshold(by_figure_6(19), 1), 132, 2);
    EXPECT_NEAR(threshold(by_figure_6(12), 1), 188, 2);
    EXPECT_NEAR(threshold(by_figure_6(19), 5), 306, 2);
    EXPECT_NEAR(threshold(by_figure_6(12), 5), 434, 2);
    EXPECT_EQ(threshold(by_figure_6(4), 1), never);
    EXPECT_EQ(threshold(by_figure_6(4), 5), never);
}

TEST(WholeProgram, is_fastest_on_a_2x8_grid_only_for_more_than_one_filter) {
    for (Elements margin : {12, 19}) {
        const AllParts parts = by_figure_6(margin);
        EXPECT_EQ(columns_of_best(parts, threshold(parts, 1), 1), 2);
        EXPECT_LT(parts[1].border, parts[0].border);
        EXPECT_EQ(columns_of_best(parts, 1, 1), 1);
    }
}

TEST(WholeProgram, needs_fewer_filters_to_prefer_other_grids_if_schedules_are_replayed) {
    // In schedules, strips also cost more because a receive may take longer than the full path of
    // its message, which Figure 6 ignores.
    for (int gathers : {1, 5}) {
        const int figure = threshold(by_figure_6(19), gathers);
        const int replayed = threshold(by_playing_schedules(19), gathers);
        RecordProperty("threshold_" + std::to_string(gathers), replayed);
        EXPECT_LT(replayed, figure);
        EXPECT_GT(replayed, 0);
    }
}

} // namespace
} // namespace sextant::test
