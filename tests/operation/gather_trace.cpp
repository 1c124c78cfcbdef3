// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/gather_trace.hpp"

#include "sextant/comm/threads.hpp"

#include <gtest/gtest.h>

namespace sextant::operation {
namespace {

/// As many events as its rank, a second each, on a rank that starts at `origin`.
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

TEST(GatherTrace, brings_all_events_to_rank_0_on_one_clock) {
    run_threads(4, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        const GatheredTrace all = gather_trace(communicator, trace_of(rank, 100 + .5 * rank), 1);
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

TEST(GatherTrace, compares_no_clocks_of_different_hosts) {
    run_threads(4, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        // Ranks 0 and 1 on one host, 2 and 3 on another that was booted long before.
        const Seconds origin = rank < 2 ? 100 + .5 * rank : 7'000'000 + .5 * (rank - 2);
        const GatheredTrace all = gather_trace(communicator, trace_of(rank, origin), rank < 2);
        EXPECT_EQ(all.clocks, 2);
        if (rank > 0)
            return;
        EXPECT_DOUBLE_EQ(all.trace.events[0].begin, .5);
        EXPECT_DOUBLE_EQ(all.trace.events[1].begin, 0);  // rank 2, first of its host
        EXPECT_DOUBLE_EQ(all.trace.events[3].begin, .5); // rank 3
    });
}

TEST(GatherTrace, knows_the_processes_of_one_host_by_their_clock) {
    EXPECT_EQ(host_identity(), host_identity());
    EXPECT_NE(host_identity(), std::hash<std::string>()("")) << "no boot id was read";
}

} // namespace
} // namespace sextant::operation
