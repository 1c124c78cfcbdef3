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

TEST(SeriesOverMpi, EveryStrategyEqualsTheSerialScan) {
    for (const int size : group_sizes) {
        on_group(size, [](const Communicator& communicator) {
            every_strategy_gives_the_serial_scan<Matrix>(communicator, Association::in_order);
            every_strategy_gives_the_serial_scan<Digits>(communicator, Association::by_arrival);
        });
    }
}
TEST(SeriesOverMpi, SeveralThreadsPerRankGiveTheSerialScan) {
    in_groups(several_threads_give_the_serial_scan<Matrix>);
    in_groups(several_threads_give_the_serial_scan<Digits>);
}
TEST(SeriesOverMpi, AnOperatorExceptionOnOneThreadEndsTheScan) {
    in_groups(an_operator_exception_on_one_thread_ends_the_scan);
}
TEST(SeriesOverMpi, ANoncommutativeOperatorDeclaredCommutativeIsDetected) {
    in_groups(a_noncommutative_operator_is_detected);
}
TEST(SeriesOverMpi, ValuesOfAnySizeAreScanned) {
    in_groups(values_of_any_size_are_scanned);
}
TEST(SeriesOverMpi, AnOperatorExceptionEndsTheScanOnEveryRank) {
    in_groups(an_operator_exception_ends_the_scan);
}
TEST(SeriesOverMpi, AnOversizedValueIsReported) {
    in_groups(an_oversized_value_is_reported);
}
TEST(SeriesOverMpi, AValueLargerThanItsSlotEndsTheScan) {
    in_groups(a_value_larger_than_its_slot_ends_the_scan);
}
TEST(SeriesOverMpi, InvalidOrDifferingOptionsOfOneRankFailOnAllRanks) {
    in_groups(invalid_options_of_one_rank_fail_on_all_ranks);
}
TEST(SeriesOverMpi, AWrongNumberOfValuesFailsOnlyThatScan) {
    in_groups(a_wrong_number_of_values_fails_only_that_scan);
}
TEST(SeriesOverMpi, ExclusiveScansEqualTheSerialScan) {
    in_groups(exclusive_scans_equal_the_serial_scan<Matrix>);
}
TEST(SeriesOverMpi, SegmentedScansEqualTheSerialScan) {
    in_groups(segmented_scans_equal_the_serial_scan<Matrix>);
}
TEST(SeriesOverMpi, TextsAreScannedExclusivelyAndInSegments) {
    in_groups(texts_are_scanned_exclusively_and_in_segments);
}
TEST(SeriesOverMpi, FailuresEndExclusiveAndSegmentedScans) {
    in_groups(failures_end_exclusive_and_segmented_scans);
}

} // namespace
} // namespace sextant::test
