// SPDX-License-Identifier: BSD-3-Clause
// Every collective on values over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/collective_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, EveryCollectiveDealsWhatItClaimsInEveryGroup) {
    for (int size : group_sizes)
        on_group(size, every_collective_deals_what_it_claims);
}

} // namespace
} // namespace sextant::test
