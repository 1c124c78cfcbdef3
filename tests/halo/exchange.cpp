// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/core/error.hpp"
#include "sextant/schedule/dependences.hpp"

#include <vector>

#include "tests/support/halo_case.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::halo {
namespace {

const std::vector<Grid> grids = {
    {7, 5, 1, 1, 2},    // nobody to talk to
    {26, 3, 8, 1, 3},   // a row; some tiles exactly the margin wide
    {4, 27, 1, 9, 2},   // a column
    {26, 27, 4, 4, 2},  // uneven tiles
    {26, 27, 3, 5, 2},  //
    {9, 15, 3, 5, 3},   // every tile exactly the margin wide and high
    {10, 16, 3, 5, 3},  // hardly more
    {26, 27, 3, 5, 0},  // no margin at all
    {26, 27, 3, 5, 1},  //
    {34, 35, 7, 3, 4},  //
    {13, 13, 13, 13, 1} // tiles of one pixel
};

TEST(HaloExchange, fills_every_margin_inside_the_image_and_leaves_the_rest) {
    for (const Grid& grid : grids) {
        const test::Case c = test::halo_case(grid);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    }
}

TEST(HaloExchange, sends_one_message_to_each_of_at_most_eight_neighbours) {
    for (const Grid& grid : grids) {
        if (grid.margin == 0)
            continue;
        const Proof proof = test::proved(test::halo_case(grid));
        const int across = (grid.columns - 1) * grid.rows, down = grid.columns * (grid.rows - 1);
        const int diagonal = 2 * (grid.columns - 1) * (grid.rows - 1);
        EXPECT_EQ(proof.messages, 2 * (across + down + diagonal));
        EXPECT_LE(proof.most_messages, 8);
        EXPECT_EQ(proof.applications, 0);
    }
}

TEST(HaloExchange, moves_the_strips_and_corners_and_nothing_else) {
    const Grid grid{40, 60, 4, 6, 2}; // tiles of 10 x 10
    const Proof proof = test::proved(test::halo_case(grid));
    EXPECT_EQ(proof.most_moved, 4 * 2 * 10 + 4 * 2 * 2);
}

TEST(HaloExchange, without_a_margin_is_nothing) {
    for (int rank = 0; rank < 15; ++rank) {
        EXPECT_TRUE(exchange({26, 27, 3, 5, 0}, rank).steps.empty());
    }
}

TEST(HaloExchange, has_no_message_wait_for_another) {
    for (const Grid& grid : grids) {
        for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
            EXPECT_EQ(Dependences(exchange(grid, rank)).edges(), 0u);
        }
    }
}

TEST(HaloExchange, refuses_tiles_smaller_than_the_margin) {
    EXPECT_THROW(exchange({9, 15, 3, 5, 4}, 0), InvalidTask);
    EXPECT_THROW(exchange({12, 15, 3, 5, 4}, 0), InvalidTask);
    try {
        exchange({9, 20, 3, 5, 4}, 7);
        FAIL() << "accepted";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("is 3x4, less than the margin of 4"));
    }
}

TEST(HaloExchange, refuses_a_grid_on_every_rank_alike) {
    const Grid grid{10, 10, 3, 1, 4}; // tiles 3, 3 and 4 wide
    for (int rank = 0; rank < 3; ++rank)
        EXPECT_THROW(exchange(grid, rank), InvalidTask) << rank;
}

TEST(HaloTile, tiles_cover_the_image_once_row_by_row) {
    for (const Grid& grid : grids) {
        std::vector<int> owners(static_cast<std::size_t>(grid.width * grid.height), 0);
        for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
            const Tile own = tile(grid, rank);
            for (Elements y = own.y; y < own.y + own.height; ++y) {
                for (Elements x = own.x; x < own.x + own.width; ++x) {
                    ++owners[static_cast<std::size_t>(y * grid.width + x)];
                }
            }
        }
        EXPECT_THAT(owners, testing::Each(1));
    }
    EXPECT_EQ(tile({9, 15, 3, 5}, 4).x, 3);
    EXPECT_EQ(tile({9, 15, 3, 5}, 4).y, 3);
}

} // namespace
} // namespace sextant::halo
