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

TEST(CompositorOverMpi, FramesEqualTheSerialFold) {
    in_every_group(frames_equal_the_serial_fold);
}
TEST(CompositorOverMpi, AFrameOfTheWrongSizeFailsOnlyThatFrame) {
    in_every_group(a_frame_of_the_wrong_size_fails_only_that_frame);
}
TEST(CompositorOverMpi, AnInvalidOrDifferingOptionOnOneRankFailsOnAllRanks) {
    on_group(3, an_invalid_option_on_one_rank_fails_on_all_ranks);
}
TEST(CompositorOverMpi, SeveralCompositorsMayBeUsedAlternately) {
    in_every_group(several_compositors_may_be_used_alternately);
}
TEST(CompositorOverMpi, EmptyRanksAndABackgroundGiveTheRightImage) {
    in_every_group(empty_ranks_and_a_background_give_the_right_image);
}
TEST(CompositorOverMpi, FramesOfAnAlgorithmRaceEqualTheSerialFold) {
    in_every_group(frames_of_a_race_equal_the_serial_fold);
}
TEST(CompositorOverMpi, AFailedFrameDoesNotBreakAnAlgorithmRace) {
    for (const int size : {3, 4, 7})
        on_group(size, a_failed_frame_does_not_break_a_race);
}
TEST(CompositorOverMpi, RacesRequireManyFramesAndAFreeChoiceOfAlgorithm) {
    on_group(4, races_require_many_frames_and_a_free_choice);
}

TEST(CompositorOverMpi, FramesOfANewShapeEqualThoseOfANewCompositor) {
    in_every_group(frames_of_a_new_shape_equal_those_of_a_new_compositor);
}
TEST(CompositorOverMpi, ARaceOfAnEarlierShapeDecidesItsLaterFrames) {
    for (const int size : {3, 4})
        on_group(size, a_race_of_an_earlier_shape_decides_its_later_frames);
}
TEST(CompositorOverMpi, AnInvalidShapeKeepsThePreviousOne) {
    in_every_group(an_invalid_shape_keeps_the_previous_one);
}

TEST(CompositorOverMpi, WorksAfterItsCommunicatorWasFreed) {
    MPI_Comm callers = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &callers);
    const Communicator communicator = from_mpi(callers);
    Compositor compositor(communicator, {30, 20}, 1);
    MPI_Comm_free(&callers);
    expect_picture(communicator, compositor, {30, 20});
}

TEST(FromMpi, RefusesUnsupportedCommunicators) {
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
