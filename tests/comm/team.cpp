// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Team, runs_every_part_once_for_any_team_size) {
    for (const int size : {1, 2, 3, 7}) {
        Team team(size);
        ASSERT_EQ(team.size(), size);
        for (int parts = 0; parts < 40; ++parts) {
            std::vector<int> done(static_cast<std::size_t>(parts)); // each written by one thread
            team.run(parts, [&](int part, int member) {
                ++done[static_cast<std::size_t>(part)];
                EXPECT_GE(member, 0);
                EXPECT_LT(member, size);
            });
            EXPECT_EQ(done, std::vector<int>(static_cast<std::size_t>(parts), 1)) << size;
        }
    }
}

TEST(Team, makes_writes_of_the_caller_and_of_parts_visible) {
    Team team(3);
    std::vector<int> values(64);
    for (int round = 1; round <= 2000; ++round) {
        const int before = round; // other threads read `before` without further synchronisation
        team.run(static_cast<int>(values.size()), [&](int part, int) {
            int& value = values[static_cast<std::size_t>(part)];
            value += before;
        });
    }
    for (const int value : values)
        EXPECT_EQ(value, 2000 * 2001 / 2);
}

TEST(Team, rethrows_an_exception_of_a_part_and_stays_usable) {
    Team team(2);
    const auto all = [&] {
        team.run(10, [](int part, int) {
            if (part % 2 == 1)
                throw std::runtime_error("odd");
        });
    };
    EXPECT_THROW(all(), std::runtime_error);
    int done = 0;
    team.run(1, [&](int, int) { ++done; });
    EXPECT_EQ(done, 1);
}

TEST(Team, refuses_a_size_of_zero) {
    EXPECT_THROW(Team(0), InvalidTask);
}

TEST(Team, a_null_pointer_runs_parts_in_order) {
    std::vector<int> order;
    run_parts(nullptr, 4, [&](int part, int) { order.push_back(part); });
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

} // namespace
} // namespace sextant::test
