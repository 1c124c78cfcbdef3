// SPDX-License-Identifier: BSD-3-Clause
// Linear representations of contours, and ContourTracing, over MPI, in groups of 1, 2, 3, 4 and 7
// ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/tracing_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, LinearRepresentationsEqualTheSerialTraversalInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            every_map_gives_the_serial_lines(communicator, {13, 11}, 15);
        });
}

TEST(Mpi, ContoursAreTheSameInMemoryAndInStripsInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            tracing_gives_the_serial_contours(communicator, {23, 31}, "./", 7);
        });
}

} // namespace
} // namespace sextant::test
