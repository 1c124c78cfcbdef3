// SPDX-License-Identifier: BSD-3-Clause
// Figures 6, 9 and 14 of the C3 paper: units per byte on 256 processors of the Intel Delta.
#include <numeric>

#include "tests/model/machines.hpp"
#include "tests/model/mesh_patterns.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr Elements L = 512; ///< of a message, or B of a boundary list

struct Total {
    double setups = 0, latency = 0, per_byte = 0, computation = 0;
};

/// `distances` are those that a figure uses beside the profile's.
Total charged(const MeshPattern& pattern, const std::vector<machine::C3::Distance>& distances) {
    machine::Profile delta = shipped_machine("delta256");
    auto& published = delta.c3->published;
    published.insert(published.end(), distances.begin(), distances.end());
    const Schedule schedule = pattern.schedule();
    Total total;
    for (const model::RoundCharge& round : model::charges(
             {.schedule = schedule, .machine = delta, .element_size = 1}, pattern.reading())) {
        total.setups += round.communication.setups;
        total.latency += round.communication.latency;
        total.per_byte += round.communication.packets / L;
        total.computation += round.computation / L;
    }
    return total;
}

/// Rows and columns of 16 have h = 5 in Figures 6 and 9; a pair has 4/3 where the paper halves.
const std::vector<machine::C3::Distance> of_figures_6_and_9 = {
    {16, 1, 5}, {1, 16, 5}, {1, 2, 4.0 / 3}, {2, 1, 4.0 / 3}};
const std::vector<machine::C3::Distance> of_halvings = {{1, 2, 4.0 / 3}, {2, 1, 4.0 / 3}};

void expect_total(const Total& total, double setups, double per_byte, double tolerance = 5e-4) {
    EXPECT_DOUBLE_EQ(total.setups, setups);
    EXPECT_NEAR(total.per_byte, per_byte, tolerance);
}

TEST(Delta, one_to_all_directly_costs_256s_and_0_55_a_byte) {
    MeshPattern pattern;
    one_to_all(pattern, 0, whole_mesh, L);
    expect_total(charged(pattern, of_figures_6_and_9), 256, .5508);
}

TEST(Delta, one_to_all_by_broadcast_costs_8s_and_27_a_byte) {
    MeshPattern pattern;
    for (int i = 0; i < 8; ++i)
        hand_over(pattern, i, processors * L);
    expect_total(charged(pattern, of_halvings), 8, 27.00);
}

TEST(Delta, one_to_all_by_columns_and_rows_costs_32s_and_1_23_a_byte) {
    MeshPattern pattern;
    one_to_all(pattern, 0, {0, 0, 1, side}, side * L);
    for (const Submachine& row : cut(side, 1))
        one_to_all(pattern, 1, row, L);
    expect_total(charged(pattern, of_figures_6_and_9), 32, 1.2285);
}

TEST(Delta, one_to_all_in_three_levels_costs_24s_and_0_93_a_byte) {
    MeshPattern pattern;
    pattern.on(0, whole_mesh);
    for (const Submachine& square : cut(4, 4))
        pattern.send(0, corner(square), 16 * L);
    for (const Submachine& square : cut(4, 4)) {
        one_to_all(pattern, 1, {square.x, square.y, 1, 4}, 4 * L);
        for (const Submachine& row : cut(4, 1, square))
            one_to_all(pattern, 2, row, L);
    }
    expect_total(charged(pattern, of_figures_6_and_9), 24, .935);
}

TEST(Delta, one_to_all_by_halving_costs_8s_and_5_29_a_byte) {
    MeshPattern pattern;
    for (int i = 0; i < 8; ++i)
        hand_over(pattern, i, (processors >> (i + 1)) * L);
    expect_total(charged(pattern, of_halvings), 8, 5.285);
}

TEST(Delta, all_to_all_directly_costs_256s_and_14_a_byte_and_touches_half_a_unit) {
    MeshPattern pattern;
    all_to_all(pattern, 0, whole_mesh, L);
    pattern.touch(0, processors * L);
    const Total total = charged(pattern, {});
    expect_total(total, 256, 14.00);
    EXPECT_DOUBLE_EQ(total.computation, .5);
}

TEST(Delta, all_to_all_by_permutations_costs_the_same_but_for_the_p_that_the_paper_writes) {
    MeshPattern pattern;
    for (int i = 1; i < processors; ++i)
        permute(pattern, i, L, [&](int rank) { return rank ^ i; });
    const Total total = charged(pattern, {});
    EXPECT_DOUBLE_EQ(total.setups, 255);
    EXPECT_NEAR(total.per_byte, 14.00 * 255 / 256, 5e-4);
}

TEST(Delta, all_to_all_by_columns_and_rows_costs_32s_and_23_a_byte) {
    MeshPattern pattern;
    for (const Submachine& column : cut(1, side))
        all_to_all(pattern, 0, column, side * L);
    for (const Submachine& row : cut(side, 1))
        all_to_all(pattern, 1, row, side * L);
    for (int round : {0, 1})
        pattern.touch(round, processors * L);
    const Total total = charged(pattern, of_figures_6_and_9);
    expect_total(total, 32, 23.00);
    EXPECT_DOUBLE_EQ(total.computation, 1);
}

TEST(Delta, all_to_all_by_squares_costs_33s_and_23_a_byte_less_the_16_messages_that_stay_home) {
    MeshPattern pattern;
    const auto squares = cut(4, 4);
    const auto member = [&](int square, int i) {
        const Submachine& m = squares[static_cast<std::size_t>(square)];
        return processor(m.x + i % 4, m.y + i / 4);
    };
    for (int round : {0, 2}) {
        for (const Submachine& square : squares)
            all_to_all(pattern, round, square, 16 * L);
    }
    pattern.on(1, whole_mesh);
    for (int j = 0; j < 16; ++j) {
        for (int i = 0; i < 16; ++i)
            pattern.send(member(j, i), member(i, j), processors * L);
    }
    for (int round : {0, 1, 2})
        pattern.touch(round, processors * L);
    const Total total = charged(pattern, {});
    // The paper counts 256 pairs in the permutation, of which 16 are one processor each.
    const double at_home = .5;
    expect_total(total, 33, 22.667 - at_home);
    EXPECT_DOUBLE_EQ(total.computation, 1.5);
}

TEST(Delta, all_to_all_by_butterfly_has_8_supersteps_and_so_8s_where_the_paper_prints_4s) {
    MeshPattern pattern;
    for (int i = 0; i < 8; ++i) {
        exchange_halves(pattern, i, i, processors / 2 * L);
        pattern.touch(i, processors * L);
    }
    const Total total = charged(pattern, of_halvings);
    expect_total(total, 8, 28.50);
    EXPECT_DOUBLE_EQ(total.computation, 4);
}

TEST(Delta, contours_directly_cost_8s_38_and_3_33_a_byte_with_the_longest_distance_first) {
    MeshPattern pattern;
    for (int i = 0; i < 8; ++i)
        exchange_halves(pattern, i, i, (Elements{1} << i) * L);
    const Total total = charged(pattern, of_halvings);
    expect_total(total, 8, 3.328);
    EXPECT_DOUBLE_EQ(total.latency, 38);
}

TEST(Delta, contours_directly_cost_12_1_a_byte_with_the_nearest_first) {
    MeshPattern pattern;
    for (int i = 0; i < 8; ++i)
        exchange_halves(pattern, i, 7 - i, (Elements{1} << i) * L);
    EXPECT_NEAR(charged(pattern, of_halvings).per_byte, 12.1, .05);
}

/// log2 of 16 exchanges within rows or columns, longest distance first.
void exchange_lines(MeshPattern& pattern, int first_round, bool rows, Elements bytes) {
    for (int i = 0; i < 4; ++i) {
        const int length = side >> i;
        for (const Submachine& line : rows ? cut(length, 1) : cut(1, length)) {
            pattern.on(first_round + i, line);
            for_each_processor(line, [&](int rank) {
                pattern.send(rank, rank ^ (length / 2 * (rows ? 1 : side)), bytes << i);
            });
        }
    }
}

TEST(Delta, contours_by_rows_and_columns_cost_8s_20_and_2_14_a_byte) {
    MeshPattern pattern;
    exchange_lines(pattern, 0, true, L);
    exchange_lines(pattern, 4, false, L * 17 / 2); // a row's boundary: (2 · 16 + 2) / 4
    const Total total = charged(pattern, {});
    expect_total(total, 8, 2.140);
    EXPECT_DOUBLE_EQ(total.latency, 20);
}

/// Two exchanges that join four boundary lists of `bytes` into one, with partners half a square
/// of `size` away.
void merge_quads(MeshPattern& pattern, int first_round, int size, Elements bytes) {
    for (int axis : {0, 1}) {
        for (const Submachine& square : cut(size, size)) {
            pattern.on(first_round + axis, square);
            for_each_processor(square, [&](int rank) {
                pattern.send(rank, rank ^ (size / 2 * (axis == 0 ? 1 : side)), bytes << axis);
            });
        }
    }
}

TEST(Delta, contours_by_quads_cost_8s_38_and_1_8_a_byte) {
    MeshPattern pattern;
    for (int j = 0; j < 4; ++j)
        merge_quads(pattern, 2 * j, 2 << j, (Elements{1} << j) * L);
    const Total total = charged(pattern, {});
    expect_total(total, 8, 1.797);
    EXPECT_NEAR(total.latency, 38, 1e-9);
}

int reversed(int i) {
    return (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
}

TEST(Delta, contours_balanced_cost_10s_58_and_0_89_a_byte_less_the_16_that_stay_where_they_are) {
    MeshPattern pattern;
    const auto reverse = [](int rank) {
        return processor(reversed(rank % side), reversed(rank / side));
    };
    permute(pattern, 0, L, reverse);
    for (int j = 0; j < 4; ++j)
        merge_quads(pattern, 1 + 2 * j, side >> j, (Elements{1} << j) * L);
    permute(pattern, 9, L, reverse);
    // .8945 rounds h = 8/3 and 4/3 to 3 and 1; the paper counts all 256 pairs in permutations, of
    // which 16 are one processor each.
    const double at_home = 2.0 / 512;
    const Total rounded = charged(pattern, {{4, 4, 3}, {2, 2, 1}});
    expect_total(rounded, 10, .8945 - at_home);
    EXPECT_NEAR(rounded.latency, 58, .1);
    EXPECT_NEAR(charged(pattern, {}).per_byte, .902 - at_home, 5e-4);
}

TEST(Delta, halving_a_message_at_each_step_is_the_paper_s_recurrence) {
    // CBH(p) = 2 (s + h) + (Lp / 2l + Lp / 4l)(h + 2) + CBH(p / 4), h halving with it.
    double recurrence = 0;
    const double h[] = {10, 5, 8.0 / 3, 4.0 / 3};
    for (int i = 0, p = processors; i < 4; ++i, p /= 4)
        recurrence += (p / 2 + p / 4) / 512.0 * (h[i] + 2);
    EXPECT_NEAR(recurrence, 5.285, 5e-4);
}

TEST(Delta, counted_exactly_differs_from_the_paper_s_way_by_p_minus_1_and_whole_packets) {
    MeshPattern pattern;
    one_to_all(pattern, 0, whole_mesh, L);
    const Schedule schedule = pattern.schedule();
    const machine::Profile delta = shipped_machine("delta256");
    const auto rounds = model::charges({.schedule = schedule, .machine = delta, .element_size = 1});
    ASSERT_EQ(rounds.size(), 1u);
    EXPECT_DOUBLE_EQ(rounds[0].communication.setups, 255);
    EXPECT_DOUBLE_EQ(rounds[0].communication.latency, 10.625);
    EXPECT_DOUBLE_EQ(rounds[0].communication.packets, 255 + 16 + 10.625);
}

} // namespace
} // namespace sextant::test
