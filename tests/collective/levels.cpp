// SPDX-License-Identifier: BSD-3-Clause
// Messages and bytes of the k-level collectives, compared with formulas.
#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/level_algorithms.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::collective {
namespace {

struct Counts {
    std::int64_t messages = 0;
    int most_messages = 0; ///< sent by one rank
    Elements moved = 0;
    int rounds = 0; ///< rounds with messages
};

/// Proves a schedule and counts its messages, their data and its rounds.
Counts counts(std::string_view name, const Grid& grid) {
    const Algorithm& algorithm = find(name);
    const Schedule schedule =
        make_schedule(grid.ranks(), [&](int rank) { return algorithm.program(grid, rank); });
    const Proof proof = prove(schedule, algorithm.claim(grid));
    EXPECT_EQ(proof.error, "") << name;
    std::set<int> rounds;
    for (const Program& program : schedule) {
        for (const Step& step : program.steps) {
            if (step.verb == Verb::send)
                rounds.insert(step.round);
        }
    }
    return {proof.messages, proof.most_messages, proof.moved, static_cast<int>(rounds.size())};
}

/// Tiles, or blocks, of `each` elements on side × side processors.
Grid tiles(int side, Elements each) {
    return {side, side * each, side, side};
}
Grid blocks(int side, Elements each) {
    return {side * side, side * side * each, side, side};
}

TEST(MultiLevelCollectives, one_to_all_and_all_to_one_send_p_minus_1_messages) {
    for (const int side : {2, 3, 4, 5, 8}) {
        for (const Algorithm& algorithm : catalogue()) {
            if (algorithm.what != CollectiveKind::all_to_all &&
                algorithm.what != CollectiveKind::all_gather &&
                algorithm.name != "scatter-all-gather-broadcast") {
                EXPECT_EQ(counts(algorithm.name, tiles(side, 2)).messages, side * side - 1)
                    << algorithm.name << " on " << side;
            }
        }
    }
}

TEST(MultiLevelCollectives, two_levels_move_each_tile_along_columns_and_rows) {
    for (const int n : {2, 3, 4, 7}) {
        const Elements each = 3;
        for (const char* name : {"2-lev-rec-scatter", "2-lev-rec-gather"}) {
            const Counts sent = counts(name, tiles(n, each));
            EXPECT_EQ(sent.moved, each * (n * (n - 1) + n * (n - 1))) << name;
            EXPECT_EQ(sent.rounds, 2) << name;
        }
        EXPECT_EQ(counts("2-lev-rec-scatter", tiles(n, each)).most_messages, 2 * (n - 1));
        EXPECT_EQ(counts("2-lev-rec-gather", tiles(n, each)).most_messages, 1);
    }
}

TEST(MultiLevelCollectives, three_levels_divide_into_squares_rows_and_processors) {
    for (const int q : {2, 3, 4}) { // q * q squares of q * q processors
        const int n = q * q;
        const Elements squares = Elements{1} * n * n - n; // tiles outside the root's square
        const Elements within = Elements{2} * n * (n - q);
        for (const char* name : {"3-lev-sq-scatter", "3-lev-sq-gather"}) {
            const Counts sent = counts(name, tiles(n, 2));
            EXPECT_EQ(sent.moved, 2 * (squares + within)) << name;
            EXPECT_EQ(sent.rounds, 3) << name;
        }
        EXPECT_EQ(counts("3-lev-sq-scatter", tiles(n, 2)).most_messages, n - 1 + 2 * (q - 1));
    }
}

TEST(MultiLevelCollectives, halving_moves_half_of_the_image_per_level) {
    for (const int side : {2, 4, 8, 16}) {
        const int levels = 2 * test::ceil_log2(side);
        for (const char* name : {"logp-lev-sq-scatter", "logp-lev-sq-gather"}) {
            const Counts sent = counts(name, tiles(side, 2));
            EXPECT_EQ(sent.moved, Elements{levels} * side * side) << name;
            EXPECT_EQ(sent.rounds, levels) << name;
        }
        EXPECT_EQ(counts("logp-lev-sq-scatter", tiles(side, 2)).most_messages, levels);
        EXPECT_EQ(counts("1-lev-br-broadcast", tiles(side, 2)).moved,
                  Elements{2} * side * side * (side * side - 1));
    }
}

TEST(MultiLevelCollectives, halving_takes_log2_rounds_per_side_of_any_grid) {
    for (const int columns : {1, 2, 3, 5, 6, 7}) {
        for (const int rows : {1, 2, 3, 4, 9}) {
            const Grid grid{2 * columns, rows, columns, rows};
            const int levels = test::ceil_log2(columns) + test::ceil_log2(rows);
            EXPECT_EQ(counts("logp-lev-sq-gather", grid).rounds, levels);
            EXPECT_EQ(counts("logp-lev-sq-scatter", grid).rounds, levels);
        }
    }
}

TEST(MultiLevelCollectives, unequal_halving_takes_more_rounds_and_rejects_invalid_fractions) {
    const Grid grid = tiles(8, 1);
    EXPECT_GT(counts("logp-lev-rec-scatter", grid).rounds,
              counts("logp-lev-sq-scatter", grid).rounds);
    for (const double share : {0., 1., -1., std::nan("")})
        EXPECT_THROW(halving_scatter(grid, 0, share), InvalidTask) << share;
}

TEST(MultiLevelCollectives, two_levels_divide_into_p_to_the_power_of_alpha_parts) {
    for (const int side : {2, 3, 4, 7, 16}) {
        const Grid grid = tiles(side, 1);
        const int p = grid.ranks();
        for (const double alpha : {.1, .25, .5, .75, .9}) {
            for (const char* name : {"2-lev-rec-scatter", "2-lev-rec-gather"}) {
                const Algorithm& algorithm = find(name);
                const Schedule schedule = make_schedule(
                    p, [&](int rank) { return algorithm.program_with(grid, rank, alpha); });
                const Proof proof = prove(schedule, algorithm.claim(grid));
                EXPECT_EQ(proof.error, "") << name << " " << side << " " << alpha;
                EXPECT_EQ(proof.messages, p - 1) << name << " " << side << " " << alpha;
            }
        }
    }
    // 16 x 16 processors: p^alpha - 1 long messages and p^(1 - alpha) - 1 short ones leave rank 0.
    const auto sent_by_root = [](double alpha) {
        const Program root = two_level_scatter(tiles(16, 1), 0, alpha);
        return std::count_if(root.steps.begin(), root.steps.end(),
                             [](const Step& step) { return step.verb == Verb::send; });
    };
    EXPECT_EQ(sent_by_root(.5), 15 + 15);
    EXPECT_EQ(sent_by_root(.25), 3 + 63);
    EXPECT_EQ(sent_by_root(.875), 127 + 1);
    for (const double alpha : {0., 1., std::nan("")})
        EXPECT_THROW(two_level_gather(tiles(4, 1), 0, alpha), InvalidTask) << alpha;
}

TEST(MultiLevelCollectives, all_to_all_sends_the_expected_messages_per_level) {
    for (const int n : {2, 3, 4, 6}) {
        const std::int64_t p = n * n;
        const Elements each = 2;
        for (const char* name :
             {"1-lev-dir-all-to-all", "1-lev-lin-all-to-all", "1-lev-xor-all-to-all"}) {
            const Counts sent = counts(name, blocks(n, each));
            EXPECT_EQ(sent.messages, p * (p - 1)) << name;
            EXPECT_EQ(sent.moved, each * p * (p - 1)) << name;
        }
        EXPECT_EQ(counts("1-lev-dir-all-to-all", blocks(n, each)).rounds, 1);
        EXPECT_EQ(counts("1-lev-lin-all-to-all", blocks(n, each)).rounds, p - 1);
        const Counts sent = counts("2-lev-cr-all-to-all", blocks(n, each));
        EXPECT_EQ(sent.messages, p * 2 * (n - 1));
        EXPECT_EQ(sent.moved, each * p * 2 * (n - 1) * n);
        EXPECT_EQ(sent.rounds, 2);
    }
}

TEST(MultiLevelCollectives,
     all_to_all_by_squares_moves_data_twice_within_squares_and_once_between) {
    for (const int q : {2, 3}) { // q * q squares of q * q processors
        const std::int64_t n = q * q, p = n * n;
        const Counts sent = counts("2-lev-sq-all-to-all", blocks(q * q, 2));
        // One message per square stays on its rank.
        EXPECT_EQ(sent.messages, 2 * p * (n - 1) + p - n);
        EXPECT_EQ(sent.moved, 2 * (2 * p * (n - 1) * n + (p - n) * p));
        EXPECT_EQ(sent.rounds, 3);
    }
}

TEST(MultiLevelCollectives, all_to_all_by_butterfly_sends_half_of_the_data_per_level) {
    for (const int n : {2, 4, 8}) {
        const std::int64_t p = n * n;
        const int levels = test::ceil_log2(n * n);
        const Counts sent = counts("logp-lev-bfly-all-to-all", blocks(n, 1));
        EXPECT_EQ(sent.messages, levels * p);
        EXPECT_EQ(sent.most_messages, levels);
        EXPECT_EQ(sent.moved, levels * p * p / 2);
        EXPECT_EQ(sent.rounds, levels);
    }
}

TEST(MultiLevelCollectives, labels_identify_the_submachine_of_a_step) {
    const Grid grid{12, 10, 6, 5};
    std::set<int> labels;
    for (int row = 0; row < grid.rows; ++row) {
        for (int column = 0; column < grid.columns; ++column) {
            for (int rows = 1; row + rows <= grid.rows; ++rows) {
                for (int columns = 1; column + columns <= grid.columns; ++columns) {
                    const Submachine machine{column, row, columns, rows};
                    const int label = group_of(grid, machine);
                    EXPECT_TRUE(labels.insert(label).second);
                    EXPECT_EQ(submachine_of(grid, label), machine);
                }
            }
        }
    }
    EXPECT_EQ(group_of(grid, whole_machine(grid)), 0);
    EXPECT_THROW(group_of({1, 1, 300, 200}, {0, 0, 1, 1}), InvalidTask);
}

TEST(MultiLevelCollectives, messages_stay_within_the_submachine_of_their_label) {
    const Grid grid{14, 15, 7, 5};
    for (const Algorithm& algorithm : catalogue()) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            for (const Step& step : algorithm.program(grid, rank).steps) {
                const Submachine machine = submachine_of(grid, step.group);
                EXPECT_TRUE(contains(grid, machine, rank)) << algorithm.name;
                if (is_message(step.verb)) {
                    EXPECT_TRUE(contains(grid, machine, step.peer)) << algorithm.name;
                }
            }
        }
    }
}

} // namespace
} // namespace sextant::collective
