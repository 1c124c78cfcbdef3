// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/share_nodes.hpp"

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

TEST(ChangingOrderOverMpi, FramesEqualThoseOfACompositorForTheirOrder) {
    turning_in_every_group(frames_in_other_orders_are_as_if_made_for_them);
}
TEST(ChangingOrderOverMpi, TuningsFollowTheOrder) {
    turning_in_every_group(tunings_follow_the_order);
}
TEST(ChangingOrderOverMpi, RacedFramesMayChangeTheirOrder) {
    turning_in_every_group(raced_frames_may_change_their_order);
}
TEST(ChangingOrderOverMpi, DifferentOrdersAreReportedOnAllRanks) {
    turning_in_every_group(ranks_that_change_to_different_orders_all_know);
}
TEST(ChangingOrderOverMpi, AnOrderThatOnlySomeRanksChangeIsReportedOnAllRanks) {
    if (!keeps_old_messages_apart())
        GTEST_SKIP() << "old messages would reach the tests that follow";
    turning_in_every_group(ranks_that_keep_an_order_that_others_change_all_know);
}
TEST(ChangingOrderOverMpi, RanksWithoutAPartMayGiveAnyOrder) {
    turning_in_every_group(ranks_without_a_part_may_give_any_order);
}
TEST(ChangingOrderOverMpi, FramesInFlightHaveOrdersOfTheirOwn) {
    turning_in_every_group(frames_in_flight_have_orders_of_their_own);
}
TEST(ChangingOrderOnSharedNodes, FramesEqualThoseOfACompositorForTheirOrder) {
    turning_in_every_group([](const Communicator& communicator) {
        const SharedNodes nodes = share_nodes(communicator, {2, Bytes{64} << 20});
        tunings_follow_the_order(nodes.communicator);
        if (keeps_old_messages_apart())
            ranks_that_keep_an_order_that_others_change_all_know(nodes.communicator);
    });
}

} // namespace
} // namespace sextant::test
