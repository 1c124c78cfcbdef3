// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/flight_cases.hpp"

namespace sextant::test {
namespace {

void flights_in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

TEST(FramesInFlightOverMpi, AreAsOneByOne) {
    flights_in_every_group(frames_in_flight_are_as_one_by_one);
}
TEST(FramesInFlightOverMpi, HandlesAreWaitedForOnce) {
    flights_in_every_group(handles_are_waited_for_once);
}
TEST(FramesInFlightOverMpi, AFailedFrameDoesNotAffectOthers) {
    flights_in_every_group(a_frame_that_fails_leaves_the_others);
}
TEST(FramesInFlightOverMpi, ImagesOfABatchAreWrittenToTheirDestinations) {
    flights_in_every_group(pictures_of_a_batch_come_where_they_are_wanted);
}
TEST(FramesInFlightOverMpi, SeveralKindsShareAFlight) {
    flights_in_every_group(several_kinds_share_a_flight);
}
TEST(FramesInFlightOverMpi, OddNumbersReachAll) {
    flights_in_every_group(odd_numbers_in_flight_reach_all);
}

} // namespace
} // namespace sextant::test
