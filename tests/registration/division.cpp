// SPDX-License-Identifier: BSD-3-Clause
// The division of cores among ranks and threads.
#include "sextant/registration/division.hpp"

#include "sextant/core/error.hpp"

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::best_division;
using registration::default_costs;
using registration::Division;
using registration::expected_time;
using registration::FrameCosts;

TEST(WorkDivision, divides_a_pair_among_threads_and_a_long_series_among_ranks) {
    const FrameCosts costs = default_costs({1024, 1024}, 3, false);
    const Division pair = best_division(4, 2, costs);
    EXPECT_EQ(pair.ranks, 1);
    EXPECT_EQ(pair.threads, 4);
    // Registering neighbours takes three quarters of the time, and is divided among ranks without
    // additional cost.
    EXPECT_EQ(best_division(2, 5000, costs).ranks, 2);
}

TEST(WorkDivision, uses_one_thread_for_small_frames) {
    const FrameCosts costs = default_costs({32, 32}, 3, false);
    for (const std::int64_t frames : {2, 10, 1000})
        EXPECT_EQ(best_division(8, frames, costs).threads, 1) << frames;
}

TEST(WorkDivision, prefers_threads_if_the_scan_takes_most_of_the_time) {
    FrameCosts costs;
    costs.combined = 1;
    costs.neighbours = .1;
    costs.shared = .98;
    EXPECT_EQ(best_division(2, 100, costs).threads, 2) << "two ranks gain hardly anything";
    costs.shared = 0;
    EXPECT_EQ(best_division(2, 100, costs).threads, 1);
}

TEST(WorkDivision, is_the_fastest_possible_and_never_exceeds_the_cores) {
    const FrameCosts costs = default_costs({256, 256}, 3, true);
    for (const int cores : {1, 2, 3, 6, 12}) {
        for (const std::int64_t frames : {1, 2, 7, 40, 96000}) {
            const Division best = best_division(cores, frames, costs);
            EXPECT_LE(best.ranks * best.threads, cores);
            for (int ranks = 1; ranks <= cores && ranks < frames; ++ranks)
                EXPECT_LE(best.expected, expected_time(ranks, cores / ranks, frames, costs, {}));
        }
    }
    EXPECT_THROW(best_division(0, 2, costs), InvalidTask);
}

} // namespace
} // namespace sextant::test
