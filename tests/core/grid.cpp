// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/grid.hpp"

#include "sextant/core/error.hpp"

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

TEST(Grid, has_the_requested_shape_or_is_nearly_square) {
    const Grid given = grid_of(Tiles{1, 6}, 6, 20, 30);
    EXPECT_EQ(given.columns, 1);
    EXPECT_EQ(given.rows, 6);
    EXPECT_EQ(given.height, 30);
    EXPECT_EQ(grid_of({}, 6, 20, 30).columns, 3);
}

TEST(Grid, requires_one_tile_per_rank) {
    for (const Tiles tiles : {Tiles{2, 2}, Tiles{-1, -3}, Tiles{0, 3}, Tiles{1 << 20, 1 << 20}})
        EXPECT_THROW(grid_of(tiles, 3, 8, 8), InvalidTask);
    EXPECT_EQ(test::message_of<InvalidTask>([] {
                  grid_of(Tiles{2, 2}, 3, 8, 8);
              }),
              "grid 2x2: 4 tiles, expected one for each of the 3 ranks");
}

TEST(Grid, of_an_image_has_no_layers) {
    EXPECT_EQ((Tiles{3, 2}).text(), "3x2");
    EXPECT_EQ((Tiles{3, 2, 4}).text(), "3x2x4");
    EXPECT_THROW(grid_of(Tiles{3, 1, 2}, 6, 8, 8), InvalidTask);
}

TEST(Grid, of_a_volume_is_divided_layer_by_layer) {
    const Grid grid{8, 9, 2, 3, 7, 4};
    EXPECT_EQ(grid.ranks(), 24);
    Elements elements = 0;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        const Tile own = tile(grid, rank);
        elements += own.elements();
        EXPECT_EQ(own.z, 7 * (rank / 6) / 4);
        EXPECT_EQ(rank_at(grid, own.x, own.y, own.z), rank);
        EXPECT_EQ(
            rank_at(grid, own.x + own.width - 1, own.y + own.height - 1, own.z + own.depth - 1),
            rank);
    }
    EXPECT_EQ(elements, grid.elements());
}

} // namespace
} // namespace sextant
