// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/pages/trace_clocks.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/threads.hpp"

#include <gtest/gtest.h>

namespace sextant::command {
namespace {

/// A trace of rank `rank` that starts at `origin`: `rank` events of one second each.
Trace trace_of(int rank, Seconds origin) {
    Trace trace;
    trace.origin = origin;
    for (int i = 0; i < rank; ++i) {
        const auto begin = static_cast<Seconds>(i);
        trace.events.push_back({rank, i, Activity::fold, 0, -1, 10 * rank + i, begin, begin + 1});
    }
    return trace;
}

void check_order(const Trace& trace, int ranks) {
    std::size_t index = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        for (int i = 0; i < rank; ++i, ++index) {
            ASSERT_LT(index, trace.events.size());
            EXPECT_EQ(trace.events[index].rank, rank);
            EXPECT_EQ(trace.events[index].elements, 10 * rank + i);
        }
    }
    EXPECT_EQ(index, trace.events.size());
}

TEST(TraceClocks, put_all_events_on_the_clock_of_rank_0) {
    run_threads(4, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        const TraceClocks clocks(communicator);
        const GatheredTrace all = clocks.gather(trace_of(rank, 100 + .5 * rank));
        EXPECT_EQ(all.clocks, 1);
        if (rank > 0) {
            EXPECT_TRUE(all.trace.events.empty());
            return;
        }
        check_order(all.trace, 4);
        EXPECT_DOUBLE_EQ(all.trace.events[0].begin, .5); // rank 1, half a second after rank 0
        EXPECT_DOUBLE_EQ(all.trace.events[5].end, 1.5 + 3);
        EXPECT_DOUBLE_EQ(all.trace.duration, 1.5 + 3);
    });
}

/// The clock of one of two hosts; the clock of the second host is ahead by `ahead`.
HostClock clock_of(bool second, Seconds ahead) {
    return {second ? 1U : 0U,
            [second, ahead] { return HostClock::steady().now() + (second ? ahead : 0); }};
}

TEST(TraceClocks, align_the_clocks_of_different_hosts) {
    run_threads(4, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        // Ranks 0 and 1 are on one host, 2 and 3 on another; each starts half a second after the
        // previous one.
        constexpr Seconds ahead = 7'000'000;
        const Seconds origin = 100 + .5 * rank + (rank < 2 ? 0 : ahead);
        const TraceClocks clocks(communicator, clock_of(rank >= 2, ahead));
        const GatheredTrace all = clocks.gather(trace_of(rank, origin));
        EXPECT_EQ(all.clocks, 2);
        ASSERT_EQ(all.aligned.size(), 2u);
        EXPECT_EQ(all.aligned[1].first_rank, 2);
        const Seconds unsure = all.aligned[1].uncertainty + 1e-8;
        EXPECT_NEAR(all.aligned[1].offset, -ahead, unsure);
        if (rank > 0)
            return;
        EXPECT_NEAR(all.trace.events[0].begin, .5, unsure);
        EXPECT_NEAR(all.trace.events[1].begin, 1, unsure); // rank 2, on the other host
        EXPECT_NEAR(all.trace.events[3].begin, 1.5, unsure);
    });
}

TEST(TraceClocks, correct_drift_between_measurement_and_gathering) {
    const Seconds now = HostClock::steady().now();
    run_threads(2, [now](const Communicator& communicator) {
        const int rank = communicator.rank();
        Seconds passed = 0;
        const HostClock clock{static_cast<std::uint64_t>(rank),
                              [&] { return HostClock::steady().now() + passed; }};
        const TraceClocks clocks(communicator, clock);
        passed = rank == 0 ? 1000 : 1000 - .05; // the clock of rank 1 has lost 50 ms
        // Events are half-way between the readings, when the clock of rank 1 was 25 ms behind.
        const GatheredTrace events = clocks.gather(trace_of(rank + 1, now + 500));
        std::vector<scan::Bar> own(1);
        own[0].end = 1;
        const std::vector<scan::Bar> bars = clocks.gather(own, now + 500);
        if (rank == 0) {
            EXPECT_NEAR(events.trace.events[1].begin - events.trace.events[0].begin, .025, 2e-3);
            ASSERT_EQ(bars.size(), 2u);
            EXPECT_NEAR(bars[1].begin - bars[0].begin, .025, 2e-3);
        }
    });
}

TEST(TraceClocks, leave_clocks_that_run_backwards_unaligned) {
    run_threads(4, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        const Seconds origin = rank < 2 ? 100 + .5 * rank : 7'000'000 + .5 * (rank - 2);
        const HostClock wrong{1, [] { return -HostClock::steady().now(); }};
        const TraceClocks clocks(communicator, rank < 2 ? clock_of(false, 0) : wrong);
        const GatheredTrace all = clocks.gather(trace_of(rank, origin));
        EXPECT_EQ(all.clocks, 2);
        EXPECT_TRUE(all.aligned.empty());
        if (rank > 0)
            return;
        EXPECT_DOUBLE_EQ(all.trace.events[0].begin, .5);
        EXPECT_DOUBLE_EQ(all.trace.events[1].begin, 0);  // rank 2, the first on its host
        EXPECT_DOUBLE_EQ(all.trace.events[3].begin, .5); // rank 3
    });
}

TEST(TraceClocks, identify_a_host_by_its_boot_id) {
    EXPECT_EQ(host_identity(), host_identity());
    EXPECT_NE(host_identity(), std::hash<std::string>()("")) << "no boot id was read";
}

} // namespace
} // namespace sextant::command
