// SPDX-License-Identifier: BSD-3-Clause
// The schedules of merging patterns are proved, counted and mutated.
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::contour {
namespace {

std::vector<Grid> grids() {
    std::vector<Grid> all;
    for (int columns = 1; columns <= 6; ++columns) {
        for (int rows = 1; rows <= 8; ++rows)
            all.push_back({64, 64, columns, rows});
    }
    for (const auto& [columns, rows] : {std::pair{12, 10}, {13, 7}, {1, 31}})
        all.push_back({64, 64, columns, rows});
    return all;
}

test::Case case_of(const Pattern& pattern, const Grid& grid) {
    return {fmt::format("{} on {}x{}", pattern.name, grid.columns, grid.rows),
            make_schedule(grid.ranks(), [&](int rank) { return program(pattern, grid, rank); }),
            claim(pattern, grid)};
}

TEST(MergingPatterns, give_every_rank_the_lists_of_all_others_merged_in_order) {
    for (const Pattern& pattern : catalogue()) {
        for (const Grid& grid : grids()) {
            const test::Case c = case_of(pattern, grid);
            ASSERT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
        }
    }
}

TEST(MergingPatterns, send_one_message_to_each_other_tile_of_a_stage) {
    for (const Pattern& pattern : catalogue()) {
        for (const Grid& grid : grids()) {
            int expected = 0;
            for (const Stage& stage : pattern.stages(grid))
                expected += stage.size() - 1;
            if (pattern.hosts == Hosts::reversed && grid.ranks() > 1)
                expected += 3; // a rank sends its list to one rank, and two merged lists back
            const Proof proof = test::proved(case_of(pattern, grid));
            EXPECT_EQ(proof.error, "");
            if (pattern.hosts == Hosts::reversed)
                EXPECT_LE(proof.most_messages, expected);
            else
                EXPECT_EQ(proof.most_messages, expected);
        }
    }
}

TEST(MergingPatterns, have_the_published_stages_for_powers_of_two) {
    const Grid grid{64, 64, 16, 16};
    EXPECT_EQ(find("1-lev-dir").stages(grid).size(), 8U);
    EXPECT_EQ(find("2-lev-rc").stages(grid).size(), 8U);
    EXPECT_EQ(find("logp-lev-quad").stages(grid).size(), 8U);
    EXPECT_EQ(find("1-lev-dir").stages(grid)[0].row.base, 8) << "the longest distance first";
    EXPECT_EQ(find("2-lev-rc").stages(grid)[0].column.base, 8);
    EXPECT_EQ(find("logp-lev-quad").stages(grid)[1].row.base, 1) << "neighbours first";
}

TEST(ReversedHosts, reverse_the_bits_of_column_and_row_numbers) {
    const Grid grid{64, 64, 8, 4};
    EXPECT_EQ(host(Hosts::reversed, grid, 1), 4);
    EXPECT_EQ(host(Hosts::reversed, grid, 3), 6);
    EXPECT_EQ(host(Hosts::reversed, grid, 8 + 1), 2 * 8 + 4);
}

TEST(ReversedHosts, are_a_permutation_on_any_grid) {
    for (const Grid& grid : grids()) {
        std::vector<int> hosts;
        for (int tile = 0; tile < grid.ranks(); ++tile) {
            hosts.push_back(host(Hosts::reversed, grid, tile));
            ASSERT_EQ(tile_of(Hosts::reversed, grid, hosts.back()), tile);
        }
        std::sort(hosts.begin(), hosts.end());
        for (int tile = 0; tile < grid.ranks(); ++tile)
            ASSERT_EQ(hosts[static_cast<std::size_t>(tile)], tile);
    }
}

TEST(TileOrder, finds_the_tile_of_every_pixel) {
    for (const Grid& grid : {Grid{7, 5, 3, 2}, {13, 11, 4, 5}, {3, 2, 5, 4}, {64, 1, 9, 1}}) {
        const Order order(grid, find("logp-lev-quad").stages(grid));
        for (int t = 0; t < grid.ranks(); ++t) {
            const Tile own = tile(grid, t);
            for (Elements y = own.y; y < own.y + own.height; ++y) {
                for (Elements x = own.x; x < own.x + own.width; ++x)
                    ASSERT_EQ(order.position_of_pixel(y * grid.width + x), order.position(t));
            }
        }
    }
}

TEST(MergingPatterns, are_found_by_exact_name_only) {
    EXPECT_EQ(find("logp-lev-bal").name, "logp-lev-bal");
    EXPECT_THROW(find("logp-lev-ball"), InvalidTask);
}

/// A schedule is refused if any single step of any rank is missing.
TEST(MergingPatterns, are_refused_if_a_step_is_missing) {
    for (const Pattern& pattern : catalogue()) {
        const test::Case c = case_of(pattern, {64, 64, 2, 3});
        for (std::size_t rank = 0; rank < c.schedule.size(); ++rank) {
            for (std::size_t s = 0; s < c.schedule[rank].steps.size(); ++s) {
                Schedule less = c.schedule;
                less[rank].steps.erase(less[rank].steps.begin() + static_cast<std::ptrdiff_t>(s));
                EXPECT_NE(prove(less, c.claim).error, "")
                    << c.name << " without step " << s << " of rank " << rank;
            }
        }
    }
}

} // namespace
} // namespace sextant::contour
