// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/redistribution.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/halo_case.hpp"
#include <gtest/gtest.h>

namespace sextant::halo {
namespace {

Schedule schedule_of(const sextant::Grid& from, const Grid& to) {
    return make_schedule(std::max(from.ranks(), to.ranks()),
                         [&](int rank) { return redistribution(from, to, rank); });
}

TEST(Redistribution, is_proved_between_any_grids_with_any_margins) {
    const std::vector<std::pair<int, int>> grids = {{1, 1}, {1, 6}, {6, 1}, {2, 3}, {3, 2}, {1, 5}};
    for (const auto& [columns, rows] : grids) {
        for (const auto& [next_columns, next_rows] : grids) {
            for (const Margin margin : {Margin(0), Margin(1, 2), Margin(9)}) {
                const sextant::Grid from{11, 17, columns, rows};
                Grid to;
                to.width = 11, to.columns = next_columns, to.rows = next_rows, to.margin = margin;
                to.above = std::min<Elements>(margin.y, 4);
                to.height = 17 - to.above;
                EXPECT_EQ(prove(schedule_of(from, to), redistribution_claim(from, to)).error, "")
                    << columns << "x" << rows << " to " << next_columns << "x" << next_rows
                    << " tiles, margin " << margin.x << "x" << margin.y;
            }
        }
    }
}

TEST(Redistribution, is_proved_between_slabs_and_every_grid_of_a_volume_of_1_to_64_ranks) {
    test::for_each_volume_grid(1, 64, [](Grid to) {
        // From slabs of as many or fewer planes to boxes, of a window in the middle of the volume.
        to.before = std::min<Elements>(to.margin.z, 2),
        to.after = std::min<Elements>(to.margin.z, 1);
        for (const int layers : {to.ranks(), 3}) {
            const sextant::Grid from{to.width, to.height, 1, 1, to.at_hand().depth, layers};
            EXPECT_EQ(prove(schedule_of(from, to), redistribution_claim(from, to)).error, "")
                << layers << " slabs to " << test::name_of(to);
        }
    });
}

TEST(Redistribution, is_proved_between_any_boxes) {
    test::for_each_volume_grid(12, 12, [](const Grid& from) {
        test::for_each_volume_grid(12, 12, [&](const Grid& to) {
            if (from.width != to.width)
                return;
            EXPECT_EQ(prove(schedule_of(from, to), redistribution_claim(from, to)).error, "")
                << test::name_of(from) << " to " << test::name_of(to);
        });
    });
}

TEST(Redistribution, with_a_pixel_from_the_wrong_position_is_refused) {
    const sextant::Grid from{11, 17, 2, 3};
    const Grid to{{11, 17, 3, 2}, 1};
    const Schedule right = schedule_of(from, to);
    for (std::size_t rank = 0; rank < right.size(); ++rank) {
        for (const Step& step : right[rank].steps) {
            Schedule wrong = right;
            wrong[rank].regions[step.first].offset += 1;
            EXPECT_NE(prove(wrong, redistribution_claim(from, to)).error, "");
        }
    }
}

TEST(Redistribution, between_equal_tiles_moves_nothing) {
    const sextant::Grid from{11, 17, 2, 3};
    for (const Program& program : schedule_of(from, {from, 0})) {
        for (const Step& step : program.steps)
            EXPECT_FALSE(is_message(step.verb));
    }
}

TEST(Redistribution, between_images_of_different_sizes_is_refused) {
    EXPECT_THROW(redistribution({11, 17, 1, 2}, {{11, 16, 1, 2}, 1}, 0), InvalidTask);
    EXPECT_THROW(redistribution({11, 17, 1, 2, 3}, Grid{{11, 17, 1, 2, 4}, 1}, 0), InvalidTask);
    EXPECT_THROW(redistribution({10, 16, 1, 2}, {{11, 16, 1, 2}, 1}, 0), InvalidTask);
}

} // namespace
} // namespace sextant::halo
