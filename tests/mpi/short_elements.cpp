// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/short_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, ShortElementsArriveWithoutTheRestInEveryGroup) {
    for (int size : group_sizes) {
        if (size > 1)
            on_group(size, short_elements_arrive_without_the_rest);
    }
}

} // namespace
} // namespace sextant::test
