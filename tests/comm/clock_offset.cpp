// SPDX-License-Identifier: BSD-3-Clause
// Clocks of ranks that have different offsets, drift, or run backwards.
#include "sextant/comm/threads.hpp"
#include "sextant/comm/tracing.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

namespace sextant {
namespace {

Seconds steady() {
    return HostClock::steady().now();
}

/// A clock that is `before` seconds behind the steady clock and runs faster by the fraction
/// `faster`.
HostClock skewed(std::uint64_t identity, Seconds before, double faster) {
    const Seconds start = steady();
    return {identity, [=] { return steady() + before + faster * (steady() - start); }};
}

TEST(ClockOffsets, estimate_skewed_clocks_within_the_stated_uncertainty) {
    run_threads(5, [](const Communicator& communicator) {
        // Ranks 1 and 3 run on rank 0's host, ranks 2 and 4 on other hosts.
        const int rank = communicator.rank();
        const Seconds before = rank == 2 ? 1000 : rank == 4 ? -.25 : 0;
        const auto offsets = clock_offsets(
            communicator, skewed(rank % 2 == 1 ? 0 : static_cast<std::uint64_t>(rank), before, 0));
        ASSERT_EQ(offsets.size(), 3u);
        EXPECT_EQ(offsets[0].offset, 0);
        EXPECT_EQ(offsets[1].first_rank, 2);
        EXPECT_EQ(offsets[2].first_rank, 4);
        EXPECT_NEAR(offsets[1].offset, -1000, offsets[1].uncertainty + 1e-9);
        EXPECT_NEAR(offsets[2].offset, .25, offsets[2].uncertainty + 1e-9);
        EXPECT_GT(offsets[1].uncertainty, 0);
        EXPECT_LT(offsets[1].uncertainty, 1);
    });
}

TEST(ClockOffsets, need_no_message_for_a_single_clock) {
    run_threads(3, [](const Communicator& communicator) {
        const auto offsets = clock_offsets(communicator, skewed(7, 5, 0));
        ASSERT_EQ(offsets.size(), 1u);
        EXPECT_EQ(offsets[0].offset, 0);
    });
}

TEST(ClockOffsets, reject_a_clock_that_runs_backwards) {
    run_threads(2, [](const Communicator& communicator) {
        const bool wrong = communicator.rank() == 1;
        const auto offsets =
            clock_offsets(communicator, {static_cast<std::uint64_t>(communicator.rank()),
                                         [wrong] { return wrong ? -steady() : steady(); }});
        EXPECT_TRUE(std::isinf(offsets[1].uncertainty));
    });
}

TEST(ClockOffsets, give_the_drift_if_measured_twice) {
    run_threads(2, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        constexpr double faster = .01; // large enough that 50 ms show the drift
        const HostClock clock =
            skewed(static_cast<std::uint64_t>(rank), rank == 0 ? 0 : 3, rank == 0 ? 0 : faster);
        const ClockOffset before = clock_offsets(communicator, clock).back();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const ClockOffset after = clock_offsets(communicator, clock).back();
        const Seconds between = after.at - before.at;
        EXPECT_NEAR((after.offset - before.offset) / between, -faster / (1 + faster),
                    (before.uncertainty + after.uncertainty) / between + 1e-9);
    });
}

TEST(ClockCorrection, includes_the_drift_only_if_it_is_measured_precisely) {
    const ClockOffset before{1, 100, 5, 1e-6}, after{1, 200, 5.01, 1e-6};
    EXPECT_DOUBLE_EQ(correction(before, after, 100), 5);
    EXPECT_DOUBLE_EQ(correction(before, after, 150), 5.005);
    // The readings are 1 ms apart: their uncertainty of 1 µs exceeds any drift, so the more precise
    // reading is used.
    const ClockOffset soon{1, 100.001, 5.3, 5e-7};
    EXPECT_EQ(correction(before, soon, 150), 5.3);
    EXPECT_EQ(correction(before, before, 150), 5);
}

} // namespace
} // namespace sextant
