// SPDX-License-Identifier: BSD-3-Clause
// Radix-k whose first radix is the number of ranks per node is the hierarchical algorithm: it folds
// within nodes first, so that less data is sent between nodes.
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/threads.hpp"

#include "tests/support/node_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

/// Number of pixels that all ranks send to other nodes.
Elements sent_between(const std::vector<int>& nodes, const compositing::Task& task,
                      const std::vector<int>& radices) {
    Elements sum = 0;
    for (int rank = 0; rank < task.ranks; ++rank) {
        const Program program =
            compositing::program(compositing::find("radix-k"), task, {radices, 0}, rank);
        for (const Step& step : program.steps) {
            const bool leaves =
                step.verb == Verb::send &&
                nodes[static_cast<std::size_t>(step.peer)] != nodes[static_cast<std::size_t>(rank)];
            sum += leaves ? program.elements_of(step) : 0;
        }
    }
    return sum;
}

TEST(Hierarchy, folding_within_nodes_first_reduces_traffic_between_nodes) {
    for (const int size : {2, 3}) {
        const int other = 6 / size;
        run_threads(6, [&](Communicator communicator) {
            const Communicator shared =
                share_nodes(communicator, {size, Bytes{16} << 20}).communicator;
            const auto task = compositing::one_image_each(6, 60 * 500);
            const std::vector<int> nodes = nodes_of(shared);
            // After the first round each node has one image instead of one per rank.
            EXPECT_EQ(sent_between(nodes, task, {size, other}), task.elements * (other - 1));
            EXPECT_EQ(sent_between(nodes, task, {6}), task.elements * (other - 1) * size);
            const auto& row = compositing::find("radix-k");
            const compositing::Tuning tuning{{size, other}, 0};
            const auto part = composite_from(shared, ImageIn::shared_memory, row, task, tuning, 2);
            EXPECT_EQ(
                difference(part, composite(communicator, row, task, tuning, Association::in_order)),
                0);
        });
    }
}

} // namespace
} // namespace sextant::test
