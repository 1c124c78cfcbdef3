// SPDX-License-Identifier: BSD-3-Clause
// Scans of series over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/series_runs.hpp"

namespace sextant::test {
namespace {

void in_groups(void (*body)(const Communicator&)) {
    for (const int size : {2, 3, 7})
        on_group(size, body);
}

TEST(SeriesOverMpi, EveryStrategyGivesTheSerialScan) {
    for (const int size : group_sizes) {
        on_group(size, [](const Communicator& communicator) {
            every_strategy_gives_the_serial_scan<Matrix>(communicator, Association::in_order);
            every_strategy_gives_the_serial_scan<Digits>(communicator, Association::by_arrival);
        });
    }
}
TEST(SeriesOverMpi, ThreadsOfARankGiveTheSerialScan) {
    in_groups(threads_give_the_serial_scan<Matrix>);
    in_groups(threads_give_the_serial_scan<Digits>);
}
TEST(SeriesOverMpi, AnOperatorThatThrowsOnAThreadEndsTheScan) {
    in_groups(an_operator_that_throws_on_a_thread_ends_the_scan);
}
TEST(SeriesOverMpi, AnOperatorThatOnlyClaimsToCommuteIsDetected) {
    in_groups(an_operator_that_only_claims_to_commute_is_found_out);
}
TEST(SeriesOverMpi, ValuesOfAnySizeAreScanned) {
    in_groups(values_of_any_size_are_scanned);
}
TEST(SeriesOverMpi, AnOperatorThatThrowsEndsTheScanOnEveryRank) {
    in_groups(an_operator_that_throws_ends_the_scan_on_every_rank);
}
TEST(SeriesOverMpi, AnOversizedValueIsNamed) {
    in_groups(an_oversized_value_is_named);
}
TEST(SeriesOverMpi, AValueLargerThanItsSlotEndsTheScan) {
    in_groups(a_value_larger_than_its_slot_ends_the_scan);
}
TEST(SeriesOverMpi, OneRanksOddRequestReachesAll) {
    in_groups(one_ranks_odd_request_reaches_all);
}
TEST(SeriesOverMpi, AnotherNumberOfValuesEndsThatScanOnly) {
    in_groups(another_number_of_values_ends_that_scan_only);
}

} // namespace
} // namespace sextant::test
