// SPDX-License-Identifier: BSD-3-Clause
// Filters of images in tiles over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/filter_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, DerivativesHaveTheSameBitsOnEveryGridOfEveryGroup) {
    for (int size : group_sizes)
        on_group(size, filters_to_the_same_bits_on_every_grid);
}

TEST(Mpi, FilteringHasTheSameBitsInMemoryAndInWindowsInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, filtering_gives_the_same_bits);
}

} // namespace
} // namespace sextant::test
