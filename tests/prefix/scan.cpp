// SPDX-License-Identifier: BSD-3-Clause
// Scans of series on threads.
#include "sextant/comm/threads.hpp"
#include "sextant/schedule/circuit.hpp"

#include "tests/support/series_runs.hpp"

namespace sextant::test {
namespace {

void on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {2, 3, 7})
        run_threads(ranks, body);
}

TEST(SeriesOnThreads, EveryStrategyGivesTheSerialScan) {
    for (const int ranks : {1, 2, 3, 5, 8}) {
        run_threads(ranks, [](const Communicator& communicator) {
            every_strategy_gives_the_serial_scan<Matrix>(communicator, Association::in_order);
            every_strategy_gives_the_serial_scan<Digits>(communicator, Association::by_arrival);
        });
    }
}

TEST(SeriesOnThreads, TheOperatorIsAppliedAsOftenAsTheScheduleSays) {
    for (const int ranks : {1, 2, 3, 4, 7, 8}) {
        for (const scan::Series& series : series_on(ranks)) {
            for_each_strategy([&](const scan::Strategy& strategy, const scan::GlobalScan& global) {
                std::atomic<Elements> applied = 0;
                run_threads(ranks, [&](const Communicator& communicator) {
                    const int rank = communicator.rank();
                    const auto mine = exact_values<Matrix>(first_of(series, rank),
                                                           series[static_cast<std::size_t>(rank)]);
                    prefix::scan(
                        communicator, std::span<const Matrix>(mine),
                        [&](const Matrix& x, const Matrix& y) {
                            ++applied;
                            return combine(x, y);
                        },
                        options_for(strategy, global, Association::in_order));
                });
                const Case c = series_case(strategy, global, series);
                EXPECT_EQ(applied, circuit(c.schedule).work) << c.name;
            });
        }
    }
}

TEST(SeriesOnThreads, OneRankAppliesTheOperatorOnceLessThanItHasValues) {
    run_threads(1, [](const Communicator& communicator) {
        const auto values = exact_values<Digits>(0, 13);
        for (const scan::Strategy& strategy : scan::strategies()) {
            int applied = 0;
            const auto counted = [&](const Digits& x, const Digits& y) {
                ++applied;
                return combine(x, y);
            };
            EXPECT_EQ(prefix::scan(communicator, std::span<const Digits>(values), counted,
                                   {std::string(strategy.name)}),
                      serial_scan(values));
            EXPECT_EQ(applied, 12) << strategy.name;
        }
    });
}

TEST(SeriesOnThreads, ValuesOfAnySizeAreScanned) {
    on_threads(values_of_any_size_are_scanned);
}
TEST(SeriesOnThreads, AnOperatorThatThrowsEndsTheScanOnEveryRank) {
    on_threads(an_operator_that_throws_ends_the_scan_on_every_rank);
}
TEST(SeriesOnThreads, AValueLargerThanItsSlotEndsTheScan) {
    on_threads(a_value_larger_than_its_slot_ends_the_scan);
}
TEST(SeriesOnThreads, OneRanksOddRequestReachesAll) {
    on_threads(one_ranks_odd_request_reaches_all);
}
TEST(SeriesOnThreads, AnotherNumberOfValuesEndsThatScanOnly) {
    on_threads(another_number_of_values_ends_that_scan_only);
}

TEST(Slots, HoldBytesAndTheirNumber) {
    const prefix::Slots<std::string> slots = text_slots(5);
    std::vector<std::byte> slot(static_cast<std::size_t>(slots.size));
    for (const char* text : {"", "a", "12345"}) {
        slots.put(text, slot);
        EXPECT_EQ(slots.get(slot), text);
    }
    EXPECT_THROW(slots.put("123456", slot), InvalidTask);
    EXPECT_EQ(prefix::plain_slots<Matrix>().size, static_cast<Bytes>(sizeof(Matrix)));
}

} // namespace
} // namespace sextant::test
