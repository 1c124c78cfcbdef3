// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/schedule/dependences.hpp"

#include <vector>

#include "tests/support/halo_case.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::halo {
namespace {

const std::vector<Grid>& grids = test::halo_grids;
const std::vector<Grid>& wide_grids = test::wide_halo_grids;

TEST(HaloExchange, fills_every_margin_inside_the_image_and_nothing_else) {
    for (const Grid& grid : grids) {
        const test::Case c = test::halo_case(grid);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    }
}

TEST(HaloExchange, fetches_pixels_from_beyond_the_neighbours_for_wide_margins) {
    for (const Grid& grid : wide_grids) {
        const test::Case c = test::halo_case(grid);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    }
    const Grid grid{20, 3, 10, 1, 5}; // tiles of 2 x 3, in a row
    EXPECT_EQ(test::proved(test::halo_case(grid)).most_messages, 6);
}

TEST(HaloExchange, sends_one_message_to_each_of_at_most_eight_neighbours) {
    for (const Grid& grid : grids) {
        if (grid.margin.x == 0)
            continue;
        const Proof proof = test::proved(test::halo_case(grid));
        const int across = (grid.columns - 1) * grid.rows, down = grid.columns * (grid.rows - 1);
        const int diagonal = 2 * (grid.columns - 1) * (grid.rows - 1);
        EXPECT_EQ(proof.messages, 2 * (across + down + diagonal));
        EXPECT_LE(proof.most_messages, 8);
        EXPECT_EQ(proof.applications, 0);
    }
}

TEST(HaloExchange, sends_only_the_border_strips_and_corners) {
    const Grid grid{40, 60, 4, 6, 2}; // tiles of 10 x 10
    const Proof proof = test::proved(test::halo_case(grid));
    EXPECT_EQ(proof.most_moved, 4 * 2 * 10 + 4 * 2 * 2);
}

TEST(HaloExchange, without_a_margin_sends_nothing) {
    for (int rank = 0; rank < 15; ++rank) {
        EXPECT_TRUE(exchange({26, 27, 3, 5, 0}, rank).steps.empty());
    }
}

TEST(HaloExchange, has_no_dependences_between_messages) {
    for (const Grid& grid : grids) {
        for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
            EXPECT_EQ(Dependences(exchange(grid, rank)).edges(), 0u);
        }
    }
}

TEST(HaloTiles, cover_the_image_once_row_by_row) {
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
