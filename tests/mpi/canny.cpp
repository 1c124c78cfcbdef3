// SPDX-License-Identifier: BSD-3-Clause
// Edges of images in tiles over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/canny_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, EdgesEqualThoseOfTheWholeImageInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            every_pattern_gives_the_serial_edges(communicator, {37, 29}, 13);
        });
}

} // namespace
} // namespace sextant::test
