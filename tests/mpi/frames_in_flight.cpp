// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/flight_cases.hpp"

namespace sextant::test {
namespace {

void flights_in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

TEST(FramesInFlightOverMpi, FramesInFlightEqualFramesCompositedOneByOne) {
    flights_in_every_group(frames_in_flight_equal_frames_composited_one_by_one);
}
TEST(FramesInFlightOverMpi, EachHandleCanBeWaitedForOnlyOnce) {
    flights_in_every_group(each_handle_can_be_waited_for_only_once);
}
TEST(FramesInFlightOverMpi, AFailedFrameDoesNotAffectOtherFrames) {
    flights_in_every_group(a_failed_frame_does_not_affect_other_frames);
}
TEST(FramesInFlightOverMpi, FramesOfABatchAreWrittenToTheirDestinations) {
    flights_in_every_group(frames_of_a_batch_are_written_to_their_destinations);
}
TEST(FramesInFlightOverMpi, FramesOfANewShapeMayBeInFlight) {
    flights_in_every_group(frames_of_a_new_shape_may_be_in_flight);
}
TEST(FramesInFlightOverMpi, DifferentCompositorsMayShareFramesInFlight) {
    flights_in_every_group(different_compositors_may_share_a_flight);
}
TEST(FramesInFlightOverMpi, InvalidOrDifferingNumbersOfFramesFailOnAllRanks) {
    flights_in_every_group(differing_numbers_of_frames_fail_on_all_ranks);
}

} // namespace
} // namespace sextant::test
