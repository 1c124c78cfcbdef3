// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/distributed/contour_merging.hpp"

#include "tests/support/line_runs.hpp"

namespace sextant::test {
namespace {

TEST(LinearRepresentations, equal_the_serial_traversal_on_every_grid) {
    for (const int ranks : {1, 2, 6})
        run_threads(ranks, [](Communicator communicator) {
            every_map_gives_the_serial_lines(communicator, {13, 11}, 5);
        });
}

TEST(LinearRepresentations, may_have_fewer_points_than_ranks) {
    run_threads(6, [](Communicator communicator) {
        every_map_gives_the_serial_lines(communicator, {2, 2}, 5);
    });
}

} // namespace
} // namespace sextant::test
