// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/command/pages/trace_clocks.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace sextant::command {
namespace {

using registration::Work;

/// The current time by the clock that WorkLog uses.
Seconds now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

TEST(WorkLog, records_times_relative_to_its_start) {
    WorkLog log(3);
    const Seconds begin = log.origin();
    log.add(Work::link, begin + 1, begin + 3);
    log.add(Work::combined, begin + 4, begin + 5);
    ASSERT_EQ(log.bars().size(), 2U);
    const WorkBar &first = log.bars()[0], &second = log.bars()[1];
    EXPECT_EQ(first.rank, 3);
    EXPECT_EQ(first.work, Work::link);
    EXPECT_EQ(second.work, Work::combined);
    EXPECT_NEAR(first.end - first.begin, 2, 1e-6);
    EXPECT_NEAR(second.begin, 4, 1e-6);
    EXPECT_DOUBLE_EQ(log.busy()[static_cast<std::size_t>(Work::combined)],
                     second.end - second.begin);
}

TEST(WorkLog, keeps_counts_and_total_time_of_many_results_in_bounded_memory) {
    WorkLog log(0);
    constexpr std::int64_t many = 20'000;
    for (std::int64_t result = 0; result < many; ++result) {
        const Seconds begin = now();
        log.add(Work::link, begin, now());
    }
    EXPECT_LE(log.bars().size(), 4096U);
    std::int64_t results = 0;
    for (const WorkBar& bar : log.bars())
        results += bar.results;
    EXPECT_EQ(results, many);
    const Seconds span = log.bars().back().end - log.bars().front().begin;
    EXPECT_GT(log.busy()[0], 0);
    EXPECT_LE(log.busy()[0], span * (1 + 1e-9));
}

TEST(WorkLog, merges_bars_of_one_kind_across_short_pauses) {
    const auto link = [](int rank, Seconds begin, Seconds end) {
        return WorkBar{rank, Work::link, 1, begin, end};
    };
    const std::vector<WorkBar> bars =
        put_together({link(0, 0, 1), link(0, 1.1, 2), link(0, 4, 5), link(1, 5, 6)}, .5);
    ASSERT_EQ(bars.size(), 3U);
    EXPECT_EQ(bars[0].results, 2);
    EXPECT_EQ(bars[0].end, 2);
}

TEST(WorkLog, gives_the_idle_fraction_of_all_ranks) {
    GatheredWork gathered;
    run_threads(2, [&](const Communicator& communicator) {
        const TraceClocks clocks(communicator);
        WorkLog log(communicator.rank());
        if (communicator.rank() == 0)
            log.add(Work::combined, log.origin(), log.origin() + .002);
        const GatheredWork all = gather_work(communicator, clocks, log);
        if (communicator.rank() == 0)
            gathered = all;
    });
    ASSERT_EQ(gathered.bars.size(), 1U);
    EXPECT_EQ(gathered.ranks, 2);
    EXPECT_EQ(gathered.clocks, 1);
    ASSERT_TRUE(gathered.idle(Work::combined));
    EXPECT_NEAR(*gathered.idle(Work::combined), .5, 1e-9); // rank 1 did nothing
    EXPECT_FALSE(gathered.idle(Work::field));
}

} // namespace
} // namespace sextant::command
