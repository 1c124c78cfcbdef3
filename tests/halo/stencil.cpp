// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/stencil.hpp"

#include "sextant/schedule/dependences.hpp"

#include "tests/support/halo_case.hpp"
#include "tests/support/schedules.hpp"
#include <gmock/gmock.h>

namespace sextant::halo {
namespace {

Schedule schedule_of(const Stencil& stencil) {
    return make_schedule(stencil.grid.ranks(),
                         [&](int rank) { return halo::stencil(stencil, rank); });
}

std::string name_of(const Stencil& s) {
    return fmt::format("{}, {} and {} rows, {} and {} planes beyond, {} planes{}{}",
                       test::name_of(s.grid), s.grid.above, s.grid.below, s.grid.before,
                       s.grid.after, s.planes, s.overlaps ? ", overlapped" : "",
                       s.collects ? ", collected" : "");
}

/// Calls `visit` for every grid of this number of ranks, on images whose tiles differ in size, are
/// smaller than the margin, or are empty.
template <class Visit>
void for_each_stencil(int ranks, Visit visit) {
    for (int columns = 1; columns <= ranks; ++columns) {
        if (ranks % columns != 0)
            continue;
        for (const Margin margin : {Margin(2), Margin(1, 3), Margin(0, 1), Margin(9, 4)}) {
            for (const bool overlaps : {false, true}) {
                visit({{{17, 19, columns, ranks / columns}, margin}, 2, 0, overlaps});
                visit({{{3, 5, columns, ranks / columns}, margin}, 1, 0, overlaps});
            }
        }
    }
}

TEST(Stencil, is_proved_on_every_grid_of_1_to_12_ranks) {
    for (int ranks = 1; ranks <= 12; ++ranks) {
        for_each_stencil(ranks, [](const Stencil& s) {
            EXPECT_EQ(prove(schedule_of(s), claim(s)).error, "") << name_of(s);
        });
    }
}

TEST(Stencil, is_proved_on_every_grid_of_a_volume_of_1_to_64_ranks) {
    int case_number = 0;
    test::for_each_volume_grid(1, 64, [&](Grid grid) {
        // Windows with planes before and after, and all combinations of options, in turn.
        grid.before = case_number / 4 % 3, grid.after = case_number / 8 % 2;
        const Stencil s{grid, 1 + case_number % 2, 0, case_number % 3 > 0,
                        case_number / 2 % 2 == 0};
        ++case_number;
        EXPECT_EQ(prove(schedule_of(s), claim(s)).error, "") << name_of(s);
    });
}

TEST(Stencil, of_a_volume_computes_each_element_once_and_the_inner_box_first) {
    const Stencil s{Grid{{40, 60, 4, 6, 30, 3}, {2, 1, 3}}, 2}; // boxes of 10 x 10 x 10
    for (int rank = 0; rank < s.grid.ranks(); ++rank) {
        const Program program = stencil(s, rank);
        const Dependences dependences(program);
        Elements early = 0, all = 0;
        for (std::size_t i = 0; i < program.steps.size(); ++i) {
            if (program.steps[i].verb != Verb::compute)
                continue;
            all += program.elements_of(program.steps[i]);
            if (dependences.needs()[i] == 0)
                early += program.elements_of(program.steps[i]);
        }
        const Tile own = tile(s.grid, rank), held = clipped_tile(s.grid, rank);
        EXPECT_EQ(all, 2 * own.elements());
        EXPECT_EQ(early, 2 * (2 * own.width - held.width) * (2 * own.height - held.height) *
                             (2 * own.depth - held.depth));
    }
}

TEST(Stencil, computes_inner_pixels_before_any_message_arrives) {
    const Stencil s{{{40, 60, 4, 6}, 2}, 5, 0, true}; // tiles of 10 x 10
    for (int rank = 0; rank < s.grid.ranks(); ++rank) {
        const Program program = stencil(s, rank);
        const Dependences dependences(program);
        Elements early = 0;
        for (std::size_t i = 0; i < program.steps.size(); ++i) {
            if (program.steps[i].verb == Verb::compute && dependences.needs()[i] == 0)
                early += program.elements_of(program.steps[i]);
        }
        const Tile own = tile(s.grid, rank), held = clipped_tile(s.grid, rank);
        EXPECT_EQ(early, 5 * (2 * own.width - held.width) * (2 * own.height - held.height));
    }
}

TEST(Stencil, computes_each_element_once) {
    for_each_stencil(6, [](const Stencil& s) {
        for (int rank = 0; rank < s.grid.ranks(); ++rank) {
            const Program program = stencil(s, rank);
            Elements made = 0;
            for (const Step& step : program.steps) {
                if (step.verb == Verb::compute)
                    made += program.elements_of(step);
            }
            EXPECT_EQ(made, s.planes * tile(s.grid, rank).elements()) << name_of(s);
        }
    });
}

TEST(Stencil, with_a_halo_shifted_by_one_pixel_is_refused) {
    const Stencil s{{{17, 19, 3, 2}, 2}, 2, 0, true};
    const Schedule right = schedule_of(s);
    int wrong = 0;
    for (std::size_t rank = 0; rank < right.size(); ++rank) {
        for (std::size_t i = 0; i < right[rank].steps.size(); ++i) {
            const Step& step = right[rank].steps[i];
            if (step.verb == Verb::send)
                continue;
            for (const Elements by : {-1, 1}) {
                Schedule schedule = right;
                schedule[rank].regions[step.first].offset += by;
                EXPECT_NE(prove(schedule, claim(s)).error, "") << rank << ", step " << i;
                ++wrong;
            }
        }
    }
    EXPECT_GT(wrong, 60);
}

TEST(Stencil, of_a_volume_with_a_halo_shifted_by_one_pixel_is_refused) {
    const Stencil s{Grid{{7, 8, 2, 2, 6, 2}, {1, 2, 1}}, 2};
    const Schedule right = schedule_of(s);
    for (std::size_t rank = 0; rank < right.size(); ++rank) {
        for (const Step& step : right[rank].steps) {
            if (step.verb == Verb::send)
                continue;
            for (std::uint32_t region = 0; region < step.count; ++region) {
                Schedule schedule = right;
                schedule[rank].regions[step.first + region].offset += rank % 2 == 0 ? 1 : -1;
                EXPECT_NE(prove(schedule, claim(s)).error, "") << rank;
            }
        }
    }
}

TEST(Stencil, with_a_margin_that_differs_from_that_of_the_kernel_is_refused) {
    const Stencil meant{{{17, 19, 3, 2}, 2}, 1, 0, true};
    for (const Margin margin : {Margin(1), Margin(3), Margin(2, 1), Margin(3, 2)}) {
        Stencil other = meant;
        other.grid.margin = margin;
        Claim expected = claim(meant), given = claim(other);
        expected.given = given.given;
        EXPECT_NE(prove(schedule_of(other), expected).error, "");
    }
}

} // namespace
} // namespace sextant::halo
