// SPDX-License-Identifier: BSD-3-Clause
// Processes that share their nodes' memory, in groups of 1, 2, 3, 4 and 7 and on nodes of 1, 2, 3
// and all ranks: results are bitwise identical to those with messages.
#include "tests/mpi/groups.hpp"
#include "tests/support/node_runs.hpp"

namespace sextant::test {
namespace {

TEST(NodesOverMpi, SharedMemoryGivesTheSameBitsAsMessagesForAnyNodeSize) {
    for (const int size : group_sizes)
        on_group(size, shared_memory_gives_the_same_bits_as_messages);
}

TEST(NodesOverMpi, SharedMemoryWorksWithLayersAndEmptyRanks) {
    on_group(4, shared_memory_works_with_layers_and_empty_ranks);
}

TEST(NodesOverMpi, MessagesAreUsedIfSharedMemoryIsUnavailable) {
    on_group(3, [](const Communicator& communicator) {
        const Bytes most = communicator.rank() == 1 ? Bytes{8} << 20 : 100000;
        const Communicator shared = share_nodes(communicator, {0, most}).communicator;
        expect_bits_of_messages(communicator, shared, compositing::one_image_each(3, 20011, 1));
        EXPECT_EQ(shared.shortage().empty(), communicator.rank() == 1);
    });
}

} // namespace
} // namespace sextant::test
