// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/short_runs.hpp"

namespace sextant::test {
namespace {

TEST(Mpi, ShortElementsAreSentWithoutPaddingInEveryGroup) {
    for (int size : group_sizes) {
        if (size > 1)
            on_group(size, short_elements_are_sent_without_padding);
    }
}

} // namespace
} // namespace sextant::test
