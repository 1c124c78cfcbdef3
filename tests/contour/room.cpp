// SPDX-License-Identifier: BSD-3-Clause
// How much room lists of tiles' borders have.
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/frontier.hpp"

#include <gtest/gtest.h>

namespace sextant::contour {
namespace {

/// The entries of one tile where every pixel of the image is of one component.
Frontier full_tile(const Grid& grid, const Order& order, int rank) {
    const Tile at = tile(grid, rank);
    const int position = order.position(rank);
    Frontier all{{position, position + 1}, {}};
    for (Elements y = at.y; y < at.y + at.height; ++y) {
        for (Elements x = at.x; x < at.x + at.width; ++x)
            all.entries.push_back({y * grid.width + x, 1, {0, false}});
    }
    return all;
}

/// Merges run after run of `width` tiles that follow one another in an order.
void every_run_has_room(const Grid& grid, const Order& order, const std::vector<Frontier>& tiles,
                        int width) {
    for (int first = 0; first + width <= grid.ranks(); ++first) {
        const std::span<const Frontier> some(tiles.data() + first, static_cast<std::size_t>(width));
        const Elements most = most_on_border(order, {first, first + width});
        for (const Touch touch : {Touch::sides, Touch::corners})
            ASSERT_LE(std::ssize(merge(order, some, touch).entries), most)
                << grid.width << 'x' << grid.height << " in " << grid.columns << 'x' << grid.rows
                << ", tiles " << first << " to " << first + width;
    }
}

TEST(ListRoom, holds_the_border_of_every_run_of_tiles_of_a_full_image) {
    for (const auto& [columns, rows] : {std::pair{3, 4}, {5, 3}, {1, 6}, {4, 4}}) {
        for (const auto& [width, height] : {std::pair{17, 13}, {5, 6}, {24, 24}, {2, 9}}) {
            const Grid grid{width, height, columns, rows};
            for (const Pattern& pattern : catalogue()) {
                const Order order(grid, pattern.stages(grid));
                std::vector<Frontier> tiles(static_cast<std::size_t>(grid.ranks()));
                for (int rank = 0; rank < grid.ranks(); ++rank)
                    tiles[static_cast<std::size_t>(order.position(rank))] =
                        full_tile(grid, order, rank);
                for (int run = 1; run <= grid.ranks(); ++run)
                    every_run_has_room(grid, order, tiles, run);
            }
        }
    }
}

TEST(ListRoom, of_a_thousand_tiles_is_that_of_borders) {
    const Grid grid{300, 300, 31, 33};
    constexpr Bytes entry = sizeof(BorderPixel), most = 1 << 20;
    for (const Pattern& pattern : catalogue()) {
        const Order order(grid, pattern.stages(grid));
        const auto room = [&](contour::Run run) { return entry * most_on_border(order, run); };
        for (const int rank : {0, 500, 1022}) {
            Bytes all = 0;
            for (const BufferSpec& buffer : program(pattern, grid, rank, room).buffers)
                all += buffer.size * buffer.room;
            EXPECT_GT(all, 0);
            EXPECT_LE(all, most) << pattern.name << ", rank " << rank;
        }
    }
}

} // namespace
} // namespace sextant::contour
