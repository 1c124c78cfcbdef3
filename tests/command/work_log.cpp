// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/work_log.hpp"

#include "sextant/comm/threads.hpp"

#include <chrono>
#include <map>
#include <thread>

#include <gtest/gtest.h>

namespace sextant::command {
namespace {

using registration::EntryName;
using registration::Work;

class PlainLedger : public registration::Ledger {
  public:
    std::optional<std::vector<std::byte>> find(const EntryName& name) override {
        const auto at = kept.find(name);
        return at == kept.end() ? std::nullopt : std::optional(at->second);
    }
    void keep(const EntryName& name, std::span<const std::byte> bytes) override {
        kept[name].assign(bytes.begin(), bytes.end());
    }
    void refresh() override { ++refreshed; }
    std::map<EntryName, std::vector<std::byte>> kept;
    int refreshed = 0;
};

EntryName name_of(Work work, std::int64_t frame) {
    return {work, 0, 0, 0, frame};
}

int found_slowly() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 5;
}

TEST(WorkLog, PassesEverythingOnAndTimesWhatIsFound) {
    PlainLedger ledger;
    WorkLog log(ledger, 3);
    EXPECT_EQ(found_or_made(&log, name_of(Work::link, 1), found_slowly), 5);
    EXPECT_EQ(found_or_made(&log, name_of(Work::combined, 1), found_slowly), 5);
    EXPECT_EQ(found_or_made(&log, name_of(Work::link, 1), [] { return 7; }), 5); // known by now
    log.refresh();
    EXPECT_EQ(ledger.kept.size(), 2U);
    EXPECT_EQ(ledger.refreshed, 1);
    ASSERT_EQ(log.bars().size(), 2U);
    const WorkBar &first = log.bars()[0], &second = log.bars()[1];
    EXPECT_EQ(first.rank, 3);
    EXPECT_EQ(first.work, Work::link);
    EXPECT_EQ(second.work, Work::combined);
    EXPECT_GE(first.end - first.begin, .002);
    EXPECT_GE(second.begin, first.end);
    EXPECT_DOUBLE_EQ(log.busy()[static_cast<std::size_t>(Work::combined)],
                     second.end - second.begin);
}

TEST(WorkLog, OfVeryManyResultsKeepsTheirNumberAndTheirTimeInBoundedMemory) {
    PlainLedger ledger;
    WorkLog log(ledger, 0);
    constexpr std::int64_t many = 20'000;
    for (std::int64_t frame = 0; frame < many; ++frame)
        found_or_made(&log, name_of(Work::link, frame), [] { return 1; });
    EXPECT_LE(log.bars().size(), 4096U);
    std::int64_t results = 0;
    for (const WorkBar& bar : log.bars())
        results += bar.results;
    EXPECT_EQ(results, many);
    const Seconds span = log.bars().back().end - log.bars().front().begin;
    EXPECT_GT(log.busy()[0], 0);
    EXPECT_LE(log.busy()[0], span * (1 + 1e-9));
}

TEST(WorkLog, BarsOfAKindAreOneWhereNoPauseIsSeen) {
    const auto link = [](int rank, Seconds begin, Seconds end) {
        return WorkBar{rank, Work::link, 1, begin, end};
    };
    const std::vector<WorkBar> bars =
        put_together({link(0, 0, 1), link(0, 1.1, 2), link(0, 4, 5), link(1, 5, 6)}, .5);
    ASSERT_EQ(bars.size(), 3U);
    EXPECT_EQ(bars[0].results, 2);
    EXPECT_EQ(bars[0].end, 2);
}

TEST(WorkLog, OfAllRanksSaysWhatShareOfTheirTimeWasIdle) {
    GatheredWork gathered;
    run_threads(2, [&](const Communicator& communicator) {
        PlainLedger ledger;
        const TraceClocks clocks(communicator);
        WorkLog log(ledger, communicator.rank());
        if (communicator.rank() == 0)
            found_or_made(&log, name_of(Work::combined, 1), found_slowly);
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
