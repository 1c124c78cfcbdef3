// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/schedule/dependences.hpp"

#include <tuple>
#include <utility>
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

TEST(HaloExchange, is_proved_for_every_grid_of_a_volume_of_1_to_64_ranks) {
    test::for_each_volume_grid(1, 64, [](const Grid& grid) {
        const test::Case c = test::halo_case(grid);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    });
}

TEST(HaloExchange, of_a_volume_sends_to_at_most_26_neighbours_and_only_the_border) {
    const Grid grid{{40, 60, 4, 6, 30, 3}, {2, 2, 2}}; // boxes of 10 x 10 x 10
    const Proof proof = test::proved(test::halo_case(grid));
    EXPECT_EQ(proof.most_messages, 26);
    EXPECT_EQ(proof.most_moved, 14 * 14 * 14 - 10 * 10 * 10);
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
    for (const Grid& grid : {Grid{{7, 5, 3, 2, 6, 4}}, Grid{{2, 3, 4, 1, 5, 7}}}) {
        std::vector<int> owners(static_cast<std::size_t>(grid.elements()), -1);
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            for (const Region& region :
                 places_in({0, 0, grid.width, grid.height, 0, grid.depth}, tile(grid, rank), 0)) {
                for (Elements e = 0; e < region.elements(); ++e) {
                    EXPECT_EQ(std::exchange(owners[static_cast<std::size_t>(region.at(e))], rank),
                              -1);
                }
            }
        }
        for (Elements e = 0; e < grid.elements(); ++e)
            EXPECT_EQ(owners[static_cast<std::size_t>(e)],
                      rank_at(grid, e % grid.width, e / grid.width % grid.height,
                              e / grid.width / grid.height));
    }
    EXPECT_EQ(tile({9, 15, 3, 5}, 4).x, 3);
    EXPECT_EQ(tile({9, 15, 3, 5}, 4).y, 3);
}

TEST(Regions, of_a_part_describe_the_part) {
    const Tile held{3, 4, 5, 6, 7, 8};
    for (const Tile& part :
         {held, Tile{3, 4, 5, 6, 8, 3}, Tile{3, 5, 5, 2, 7, 8}, Tile{4, 4, 2, 6, 9, 4},
          Tile{4, 6, 3, 2, 8, 5}, Tile{4, 9, 1, 1, 10, 1}, Tile{3, 4, 5, 1, 7, 1},
          Tile{5, 5, 1, 5, 7, 8}}) {
        const std::vector<Region> rows = rows_in(held, part, 0);
        const Tile found = part_in(held, rows[0], rows.size());
        EXPECT_EQ(std::tie(found.x, found.y, found.z), std::tie(part.x, part.y, part.z));
        EXPECT_EQ(std::tie(found.width, found.height, found.depth),
                  std::tie(part.width, part.height, part.depth));
    }
    EXPECT_TRUE(rows_in(held, {3, 4, 5, 6, 7, 0}, 0).empty());
    EXPECT_TRUE(places_in(held, {3, 4, 0, 6, 7, 2}, 0).empty());
}

} // namespace
} // namespace sextant::halo
