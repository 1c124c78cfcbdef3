// SPDX-License-Identifier: BSD-3-Clause
// Capacity of the lists of tile borders.
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/contour/tile_lists.hpp"

#include <gtest/gtest.h>

namespace sextant::contour {
namespace {

/// The entries of one tile if all pixels of the image belong to one component.
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

/// Expects that each run of `width` consecutive tiles of an order has room for its merged list.
void every_run_has_room(const Grid& grid, const Order& order, const std::vector<Frontier>& tiles,
                        int width) {
    for (int first = 0; first + width <= grid.ranks(); ++first) {
        const std::span<const Frontier> some(tiles.data() + first, static_cast<std::size_t>(width));
        const Elements most = most_on_border(order, {first, first + width});
        for (const Touch touch : {Touch::sides, Touch::corners})
            ASSERT_LE(std::ssize(component_merger(order, touch).merge(some).entries), most)
                << grid.width << 'x' << grid.height << " in " << grid.columns << 'x' << grid.rows
                << ", tiles " << first << " to " << first + width;
    }
}

TEST(ListCapacity, suffices_for_the_border_of_any_run_of_tiles_of_a_full_image) {
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

Bytes room_of(const Program& program, const Region& region) {
    return program.buffers[static_cast<std::size_t>(region.buffer)].room;
}

/// Sizes of the messages that a program sends to a rank, or receives from it, in order.
std::vector<Bytes> rooms(const Program& program, Verb verb, int peer) {
    std::vector<Bytes> rooms;
    for (const Step& step : program.steps) {
        if (step.verb == verb && step.peer == peer)
            rooms.push_back(room_of(program, program.regions_of(step)[0]));
    }
    return rooms;
}

// Some operands of a fold may have more entries than the result.
TEST(ListCapacity, of_a_merged_list_suffices_for_each_of_its_input_lists) {
    for (const Pattern& pattern : catalogue()) {
        for (const Grid& grid : {Grid{64, 64, 4, 4}, {64, 64, 5, 3}, {64, 64, 1, 7}}) {
            for (int rank = 0; rank < grid.ranks(); ++rank) {
                const Program made =
                    program(pattern, grid, rank, [](contour::Run) { return Bytes{1}; });
                for (const Step& step : made.steps) {
                    if (step.verb == Verb::fold)
                        EXPECT_GE(room_of(made, step.to), step.count) << pattern.name;
                }
            }
        }
    }
}

TEST(ListCapacity, of_a_message_is_the_same_for_sender_and_receiver) {
    const auto room = [](contour::Run run) { return Bytes{1} + 1000 * run.first + run.last; };
    for (const Pattern& pattern : catalogue()) {
        for (const Grid& grid : {Grid{64, 64, 4, 4}, {64, 64, 5, 3}, {64, 64, 1, 7}}) {
            std::vector<Program> programs;
            for (int rank = 0; rank < grid.ranks(); ++rank)
                programs.push_back(program(pattern, grid, rank, room));
            for (int from = 0; from < grid.ranks(); ++from) {
                for (int to = 0; to < grid.ranks(); ++to)
                    ASSERT_EQ(rooms(programs[static_cast<std::size_t>(from)], Verb::send, to),
                              rooms(programs[static_cast<std::size_t>(to)], Verb::receive, from))
                        << pattern.name << ", rank " << from << " to " << to;
            }
        }
    }
}

TEST(ListCapacity, for_a_thousand_tiles_grows_with_borders_not_areas) {
    const Grid grid{300, 300, 31, 33};
    constexpr Bytes entry = sizeof(BorderPixel), most = 2 << 20;
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
