// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_sharing.hpp"

#include <string_view>

#include "tests/mpi/groups.hpp"
#include "tests/support/order_cases.hpp"
#include <mpi.h>

namespace sextant::test {
namespace {

void turning_in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

/// True for Open MPI. If ranks start a frame with different orders, some messages are never
/// received, and MPI cannot cancel them. MPICH delivers some of these to communicators that are
/// created later.
bool keeps_old_messages_apart() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    return std::string_view(version, static_cast<std::size_t>(length)).starts_with("Open MPI");
}

TEST(ChangingOrderOverMpi, FramesEqualThoseOfACompositorCreatedForTheirOrder) {
    turning_in_every_group(frames_equal_those_of_a_compositor_for_their_order);
}
TEST(ChangingOrderOverMpi, SparseInterlacedAndThreadedTuningsSupportChangingOrders) {
    turning_in_every_group(tunings_support_changing_orders);
}
TEST(ChangingOrderOverMpi, AlgorithmRacesAllowChangingOrders) {
    turning_in_every_group(races_allow_changing_orders);
}
TEST(ChangingOrderOverMpi, OrdersThatDifferBetweenRanksAreReportedOnAllRanks) {
    turning_in_every_group(orders_that_differ_between_ranks_are_reported);
}
TEST(ChangingOrderOverMpi, AChangeOnOnlySomeRanksIsReportedOnAllRanks) {
    if (!keeps_old_messages_apart())
        GTEST_SKIP() << "old messages would reach the tests that follow";
    turning_in_every_group(a_change_on_only_some_ranks_is_reported);
}
TEST(ChangingOrderOverMpi, RanksWithoutImagesMayPassAnyOrder) {
    turning_in_every_group(ranks_without_images_may_pass_any_order);
}
TEST(ChangingOrderOverMpi, FramesInFlightMayHaveDifferentOrders) {
    turning_in_every_group(frames_in_flight_may_have_different_orders);
}
TEST(ImageOrdersOverMpi, ImagesOfRanksMayInterleave) {
    turning_in_every_group(images_of_ranks_may_interleave);
}
TEST(ImageOrdersOverMpi, InvalidOrdersAreReportedOnAllRanks) {
    turning_in_every_group(invalid_image_orders_are_reported_on_all_ranks);
}
TEST(DrawnRectanglesOverMpi, PixelsOutsideAreNotRead) {
    turning_in_every_group(pixels_outside_of_rectangles_are_not_read);
}
TEST(DrawnRectanglesOverMpi, BelongToTheirRanksInEveryOrder) {
    turning_in_every_group(rectangles_belong_to_their_ranks_in_every_order);
}
TEST(DrawnRectanglesOverMpi, InvalidOnesKeepThePreviousOnes) {
    turning_in_every_group(invalid_rectangles_keep_the_previous_ones);
}
TEST(ChangingOrderOnSharedNodes, FramesEqualThoseOfACompositorCreatedForTheirOrder) {
    turning_in_every_group([](const Communicator& communicator) {
        const SharedNodes nodes = share_nodes(communicator, {2, Bytes{64} << 20});
        tunings_support_changing_orders(nodes.communicator);
        if (keeps_old_messages_apart())
            a_change_on_only_some_ranks_is_reported(nodes.communicator);
    });
}

} // namespace
} // namespace sextant::test
