// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/planner.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::planner {
namespace {

using compositing::one_image_each;
using compositing::Task;

/// Images in which bands [first, last) were drawn.
std::vector<DrawnBands> drawn_between(int images, int first, int last) {
    DrawnBands bands{};
    std::fill(bands.begin() + first, bands.begin() + last, 1);
    return std::vector<DrawnBands>(static_cast<std::size_t>(images), bands);
}

constexpr int half = drawn_bands / 2;

TEST(Interlacing, counts_what_the_busiest_rank_of_two_moves) {
    const auto upper = drawn_between(2, 0, half), lower = drawn_between(2, half, drawn_bands);
    const auto traffic = [](const std::vector<DrawnBands>& drawn, int root, bool interlaced) {
        return busiest_traffic(one_image_each(2, 4096, root), drawn, interlaced);
    };
    // Each sends a half that is full or empty; rank 1 then what it blended, to rank 0.
    EXPECT_NEAR(traffic(upper, 0, false), .5, 1e-9);
    EXPECT_NEAR(traffic(lower, 0, false), 1, 1e-9);
    // A quarter each way, and another to be collected.
    EXPECT_NEAR(traffic(upper, 0, true), .75, 1e-9);
    EXPECT_NEAR(traffic(lower, 0, true), .75, 1e-9);
    EXPECT_NEAR(traffic(lower, Task::distributed, true), .5, 1e-9);
}

TEST(Interlacing, pays_where_the_root_does_not_own_what_was_drawn) {
    const Task task = one_image_each(2, 4096, 0);
    EXPECT_TRUE(interlacing_pays(task, drawn_between(2, half, drawn_bands)));
    EXPECT_FALSE(interlacing_pays(task, drawn_between(2, 0, half)));
    EXPECT_FALSE(interlacing_pays(task, drawn_between(2, 0, drawn_bands)));
    EXPECT_FALSE(interlacing_pays(task, drawn_between(2, 0, 0)));
}

TEST(Interlacing, is_left_alone_where_pieces_are_wanted_or_there_is_one_image) {
    const auto lower = drawn_between(2, half, drawn_bands);
    EXPECT_FALSE(interlacing_pays(one_image_each(2, 4096), lower));
    EXPECT_FALSE(interlacing_pays(one_image_each(1, 4096, 0), drawn_between(1, half, half + 4)));
    Task nobody = one_image_each(3, 5, 2);
    nobody.order.clear();
    nobody.layers.clear();
    EXPECT_FALSE(interlacing_pays(nobody, {}));
}

TEST(Interlacing, counts_layers_and_a_root_without_images) {
    Task task = one_image_each(3, 4096, 2);
    task.order = {1, 0};
    task.layers = {3, 1};
    const auto full = drawn_between(2, 0, drawn_bands);
    // Position 0 sends 3 halves, receives one and gives its half; rank 2 gets two halves.
    EXPECT_NEAR(busiest_traffic(task, full, false), 2.5, 1e-9);
    EXPECT_NEAR(busiest_traffic(task, full, true), 2.5, 1e-9);
}

TEST(Interlacing, moves_as_much_in_all_whatever_the_number_of_ranks) {
    for (const int p : {3, 5, 7, 64, 100}) {
        const Task task = one_image_each(p, 4096);
        const auto full = drawn_between(p, 0, drawn_bands);
        EXPECT_NEAR(busiest_traffic(task, full, false), 2. * (p - 1) / p, 1e-9) << p;
        EXPECT_NEAR(busiest_traffic(task, full, true), 2. * (p - 1) / p, 1e-9) << p;
    }
}

TEST(Interlacing, deals_rows_that_are_not_too_short) {
    EXPECT_EQ(interlaced_block(2048), 2048);
    EXPECT_EQ(interlaced_block(100), 300);
    EXPECT_EQ(interlaced_block(1), 256);
    EXPECT_EQ(interlaced_block(0), 256);
}

} // namespace
} // namespace sextant::planner
