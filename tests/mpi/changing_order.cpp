// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_sharing.hpp"

#include <string_view>

#include "tests/mpi/groups.hpp"
#include "tests/support/order_cases.hpp"
#include <mpi.h>

namespace sextant::test {
namespace {

const bool orders_added = add_cases("ChangingOrderOverMpi", order_cases(), on_group);

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

TEST(ChangingOrderOverMpi, a_change_on_only_some_ranks_is_reported_on_all_ranks) {
    if (!keeps_old_messages_apart())
        GTEST_SKIP() << "old messages would reach the tests that follow";
    turning_in_every_group(a_change_on_only_some_ranks_is_reported);
}
TEST(ChangingOrderOnSharedNodes, frames_equal_those_of_a_compositor_created_for_their_order) {
    turning_in_every_group([](const Communicator& communicator) {
        const SharedNodes nodes = share_nodes(communicator, {2, Bytes{64} << 20});
        tunings_support_changing_orders(nodes.communicator);
        if (keeps_old_messages_apart())
            a_change_on_only_some_ranks_is_reported(nodes.communicator);
    });
}

} // namespace
} // namespace sextant::test
