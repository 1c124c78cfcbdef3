// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"

#include "sextant/core/error.hpp"

#include <bit>
#include <set>

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::collective {
namespace {

const std::vector<Grid> grids = {{1, 1, 1, 1},   {7, 5, 1, 1},   {16, 16, 4, 4}, {13, 11, 3, 5},
                                 {13, 11, 5, 3}, {9, 30, 1, 13}, {30, 9, 13, 1}, {5, 5, 2, 3},
                                 {2, 3, 4, 4}, // some tiles are empty
                                 {17, 19, 7, 6}, {8, 8, 8, 2},   {0, 4, 2, 2},   {40, 6, 12, 1}};

/// The flat and the binomial trees.
std::span<const Algorithm> trees() {
    return catalogue().first(4);
}

test::Case case_of(const Algorithm& algorithm, const Grid& grid) {
    return {fmt::format("{} of {}x{} on {}x{}", algorithm.name, grid.width, grid.height,
                        grid.columns, grid.rows),
            make_schedule(grid.ranks(), [&](int rank) { return algorithm.program(grid, rank); }),
            algorithm.claim(grid)};
}

TEST(Collectives, scatter_or_gather_every_tile_of_any_grid) {
    for (const Algorithm& algorithm : catalogue()) {
        for (const Grid& grid : grids) {
            const test::Case c = case_of(algorithm, grid);
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
}

TEST(Collectives, reduce_every_tile_of_any_grid_in_order_or_only_with_commutative_operators) {
    for (const Algorithm& algorithm : reductions()) {
        for (const Grid& grid : grids) {
            test::Case c = case_of(algorithm, grid);
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            c.claim.order = Order::given;
            const bool in_order = !algorithm.commutative || grid.ranks() < 2 || grid.width == 0;
            EXPECT_EQ(prove(c.schedule, c.claim).holds(), in_order) << c.name;
        }
    }
}

TEST(Collectives, do_not_satisfy_the_specification_of_another_operation) {
    const Grid grid{6, 6, 2, 3};
    for (const Algorithm& algorithm : catalogue()) {
        for (const Algorithm& other : catalogue()) {
            if (algorithm.what == other.what)
                continue;
            EXPECT_NE(prove(case_of(algorithm, grid).schedule, other.claim(grid)).error, "")
                << algorithm.name << " as " << other.name;
        }
    }
}

TEST(Collectives, move_each_tile_once_if_flat_and_once_per_level_if_binomial) {
    const Grid grid{24, 24, 4, 6};
    const Elements tile_size = 24;
    for (const Algorithm& algorithm : trees()) {
        Elements moves = grid.ranks() - 1;
        if (algorithm.name.starts_with("binomial")) {
            moves = 0; // a tile is sent once for each set bit of its owner's number
            for (int rank = 1; rank < grid.ranks(); ++rank)
                moves += std::popcount(static_cast<unsigned>(rank));
        }
        const Proof proof = test::proved(case_of(algorithm, grid));
        EXPECT_EQ(proof.moved, moves * tile_size) << algorithm.name;
        EXPECT_EQ(proof.messages, grid.ranks() - 1) << algorithm.name;
    }
}

/// Number of messages that are strided at the sender (or receiver).
int strided(const Schedule& schedule, Verb verb) {
    int count = 0;
    for (const Program& program : schedule) {
        for (const Step& step : program.steps) {
            if (step.verb == verb)
                count += step.count > 1 || !program.regions_of(step)[0].contiguous();
        }
    }
    return count;
}

TEST(Collectives, use_strided_messages_only_for_narrow_tiles_at_the_root) {
    const Grid strips{16, 32, 1, 16}, squares{16, 32, 4, 4}, columns{32, 16, 16, 1};
    for (const Algorithm& algorithm : trees()) {
        const bool scatters = algorithm.name.ends_with("scatter");
        const bool flat = algorithm.name.starts_with("flat");
        const auto of = [&](const Grid& grid, bool root_side) {
            return strided(case_of(algorithm, grid).schedule,
                           scatters == root_side ? Verb::send : Verb::receive);
        };
        EXPECT_EQ(of(strips, true), 0) << algorithm.name;
        EXPECT_EQ(of(squares, true), flat ? 15 : 12) << algorithm.name;
        EXPECT_EQ(of(columns, true), 15) << algorithm.name;
        for (const Grid& grid : {strips, squares, columns})
            EXPECT_EQ(of(grid, false), 0) << algorithm.name;
    }
}

TEST(Collectives, have_unique_names_and_are_found_by_them) {
    std::set<std::string_view> names;
    for (const Algorithm& algorithm : catalogue()) {
        EXPECT_TRUE(names.insert(algorithm.name).second);
        EXPECT_EQ(&find(algorithm.name), &algorithm);
    }
    EXPECT_THROW(find("flat-scater"), InvalidTask);
}

} // namespace
} // namespace sextant::collective
