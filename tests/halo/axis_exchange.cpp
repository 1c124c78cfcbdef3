// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include <vector>

#include "tests/support/halo_case.hpp"
#include <gtest/gtest.h>

namespace sextant::halo {
namespace {

const test::Halo by_axis{axis_exchange, clipped_tile};

const std::vector<Grid> grids = test::all_halo_grids();

TEST(AxisExchange, fills_every_margin_inside_the_image_including_corners) {
    for (const Grid& grid : grids) {
        const test::Case c = test::halo_case(grid, by_axis);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    }
}

TEST(AxisExchange, is_proved_for_every_grid_of_a_volume_of_1_to_64_ranks) {
    test::for_each_volume_grid(1, 64, [](const Grid& grid) {
        const test::Case c = test::halo_case(grid, by_axis);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    });
}

TEST(AxisExchange, of_a_volume_sends_at_most_six_messages_per_rank) {
    const Grid grid{{40, 60, 4, 6, 30, 3}, {2, 2, 2}}; // boxes of 10 x 10 x 10
    const Proof proof = test::proved(test::halo_case(grid, by_axis));
    EXPECT_EQ(proof.most_messages, 6);
    EXPECT_EQ(proof.most_moved, 2 * 2 * (10 * 10 + 14 * 10 + 14 * 14));
}

TEST(AxisExchange, sends_at_most_four_messages_per_rank_and_moves_corners_twice) {
    const Grid grid{40, 60, 4, 6, 2}; // tiles of 10 x 10
    const Proof proof = test::proved(test::halo_case(grid, by_axis));
    EXPECT_EQ(proof.messages, 2 * (3 * 6 + 4 * 5));
    EXPECT_EQ(proof.most_messages, 4);
    EXPECT_EQ(proof.most_moved, 2 * 2 * 10 + 2 * 2 * 14);
}

TEST(AxisExchange, has_one_direction_per_round_and_completes_each_round_before_the_next) {
    const Grid grid{26, 27, 4, 4, 2};
    const Program middle = axis_exchange(grid, 5);
    EXPECT_EQ(middle.window, 1);
    ASSERT_EQ(middle.steps.size(), 8u);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(middle.steps[static_cast<std::size_t>(i)].round, i / 2);
}

TEST(AxisExchange, sends_rows_contiguously_and_columns_strided) {
    for (const Grid& grid : {Grid{{26, 27, 4, 4}, 2}, Grid{{4, 27, 1, 9}, 2}}) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Program program = axis_exchange(grid, rank);
            for (const Step& step : program.steps) {
                EXPECT_EQ(program.regions_of(step)[0].contiguous(), step.round >= 2) << rank;
            }
        }
    }
}

} // namespace
} // namespace sextant::halo
