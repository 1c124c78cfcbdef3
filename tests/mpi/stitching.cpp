// SPDX-License-Identifier: BSD-3-Clause
// Segmentations of blocks that are joined over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/stitch_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, StitchingEqualsTheDefinitionInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            stitching_equals_the_definition(communicator, 6);
        });
}

} // namespace
} // namespace sextant::test
