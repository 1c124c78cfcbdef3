// SPDX-License-Identifier: BSD-3-Clause
// Components of images in tiles over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/component_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, ComponentsEqualThoseOfTheWholeImageInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            every_pattern_gives_the_serial_labels(communicator, {17, 13}, 61);
        });
}

TEST(Mpi, LabellingEqualsThatOfTheWholeImageInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, [](Communicator communicator) {
            labelling_gives_the_serial_labels(communicator, blobs({19, 13}, 3, 4));
        });
}

} // namespace
} // namespace sextant::test
