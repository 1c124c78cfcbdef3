// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "tests/support/short_runs.hpp"

namespace sextant::test {
namespace {

TEST(ShortElements, arrive_without_the_rest) {
    for (const int ranks : {2, 3, 7})
        run_threads(ranks, short_elements_arrive_without_the_rest);
}

} // namespace
} // namespace sextant::test
