// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/planner.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::planner {
namespace {

using compositing::one_image_each;
using compositing::Task;

/// Images whose bands [first, last) are active.
std::vector<DrawnBands> drawn_between(int images, int first, int last) {
    DrawnBands bands{};
    std::fill(bands.begin() + first, bands.begin() + last, 1);
    return std::vector<DrawnBands>(static_cast<std::size_t>(images), bands);
}

constexpr int half = drawn_bands / 2;

TEST(Interlacing, counts_the_data_sent_by_the_busier_of_two_ranks) {
    const auto upper = drawn_between(2, 0, half), lower = drawn_between(2, half, drawn_bands);
    const auto traffic = [](const std::vector<DrawnBands>& drawn, int root, bool interlaced) {
        return busiest_traffic(one_image_each(2, 4096, root), drawn, interlaced);
    };
    // Without interlacing, each rank sends one half, active or empty; then rank 1 sends its blended
    // half to rank 0.
    EXPECT_NEAR(traffic(upper, 0, false), .5, 1e-9);
    EXPECT_NEAR(traffic(lower, 0, false), 1, 1e-9);
    // With interlacing, each rank sends the active half of its half; then rank 1 sends its blended
    // half to rank 0.
    EXPECT_NEAR(traffic(upper, 0, true), .75, 1e-9);
    EXPECT_NEAR(traffic(lower, 0, true), .75, 1e-9);
    EXPECT_NEAR(traffic(lower, Task::distributed, true), .5, 1e-9);
}

TEST(Interlacing, is_faster_if_the_root_does_not_own_the_active_pixels) {
    const Task task = one_image_each(2, 4096, 0);
    EXPECT_TRUE(interlacing_pays(task, drawn_between(2, half, drawn_bands)));
    EXPECT_FALSE(interlacing_pays(task, drawn_between(2, 0, half)));
    EXPECT_FALSE(interlacing_pays(task, drawn_between(2, 0, drawn_bands)));
    EXPECT_FALSE(interlacing_pays(task, drawn_between(2, 0, 0)));
}

TEST(Interlacing, is_not_used_for_distributed_results_or_single_images) {
    const auto lower = drawn_between(2, half, drawn_bands);
    EXPECT_FALSE(interlacing_pays(one_image_each(2, 4096), lower));
    EXPECT_FALSE(interlacing_pays(one_image_each(1, 4096, 0), drawn_between(1, half, half + 4)));
    Task nobody = one_image_each(3, 5, 2);
    nobody.order.clear();
    nobody.layers.clear();
    EXPECT_FALSE(interlacing_pays(nobody, {}));
}

TEST(Interlacing, counts_the_data_of_several_layers_and_of_a_root_without_images) {
    Task task = one_image_each(3, 4096, 2);
    task.order = {1, 0};
    task.layers = {3, 1};
    const auto full = drawn_between(2, 0, drawn_bands);
    // Position 0 sends 3 halves, receives one and passes on its half; rank 2 receives two halves.
    EXPECT_NEAR(busiest_traffic(task, full, false), 2.5, 1e-9);
    EXPECT_NEAR(busiest_traffic(task, full, true), 2.5, 1e-9);
}

TEST(Interlacing, does_not_change_traffic_for_images_without_empty_pixels) {
    for (const int p : {3, 5, 7, 64, 100}) {
        const Task task = one_image_each(p, 4096);
        const auto full = drawn_between(p, 0, drawn_bands);
        EXPECT_NEAR(busiest_traffic(task, full, false), 2. * (p - 1) / p, 1e-9) << p;
        EXPECT_NEAR(busiest_traffic(task, full, true), 2. * (p - 1) / p, 1e-9) << p;
    }
}

TEST(Interlacing, uses_blocks_of_at_least_256_pixels) {
    EXPECT_EQ(interlaced_block(2048), 2048);
    EXPECT_EQ(interlaced_block(100), 300);
    EXPECT_EQ(interlaced_block(1), 256);
    EXPECT_EQ(interlaced_block(0), 256);
}

} // namespace
} // namespace sextant::planner
