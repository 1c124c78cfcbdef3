// SPDX-License-Identifier: BSD-3-Clause
// Contours of images in tiles over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/contour_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, ContoursEqualTheSerialTraversalInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            every_pattern_gives_the_serial_contours(communicator, {37, 29}, 9);
        });
}

} // namespace
} // namespace sextant::test
