// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/mpi.hpp"

#include "tests/mpi/groups.hpp"
#include "tests/support/compositor_cases.hpp"

namespace sextant::test {
namespace {

void in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

TEST(CompositorOverMpi, FramesAreRight) {
    in_every_group(frames_come_out_right);
}
TEST(CompositorOverMpi, AFrameOfAnotherSizeFailsOnlyThatFrame) {
    in_every_group(a_frame_of_another_size_ends_that_frame_only);
}
TEST(CompositorOverMpi, OneRanksOddOptionReachesAll) {
    on_group(3, one_ranks_odd_option_reaches_all);
}
TEST(CompositorOverMpi, SeveralAreUsedAlternately) {
    in_every_group(several_compositors_take_turns);
}
TEST(CompositorOverMpi, EmptyRanksAndABackgroundGiveTheRightImage) {
    in_every_group(empty_ranks_and_a_background_come_out_right);
}
TEST(CompositorOverMpi, RacedFramesAreRight) {
    in_every_group(raced_frames_come_out_right);
}
TEST(CompositorOverMpi, AFailedFrameDoesNotBreakARace) {
    for (const int size : {3, 4, 7})
        on_group(size, a_failed_frame_does_not_break_a_race);
}
TEST(CompositorOverMpi, NothingIsRacedUnlessManyFramesMayVary) {
    on_group(4, nothing_is_raced_unless_many_frames_may_vary);
}

TEST(CompositorOverMpi, OutlivesTheCommunicatorItWasMadeOn) {
    MPI_Comm callers = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &callers);
    const Communicator communicator = from_mpi(callers);
    Compositor compositor(communicator, {30, 20}, 1);
    MPI_Comm_free(&callers);
    expect_picture(communicator, compositor, {30, 20});
}

TEST(FromMpi, OtherCommunicatorsAreRefused) {
    EXPECT_THROW(from_mpi(MPI_COMM_NULL), InvalidTask);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
    EXPECT_THROW(from_mpi(both), InvalidTask);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

} // namespace
} // namespace sextant::test
