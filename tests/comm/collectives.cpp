// SPDX-License-Identifier: BSD-3-Clause
// Every collective, executed on values over threads.
#include "sextant/comm/threads.hpp"

#include "tests/support/collective_runs.hpp"

namespace sextant::test {
namespace {

TEST(Threads, every_collective_gives_the_specified_result_on_1_to_17_ranks) {
    for (int ranks = 1; ranks <= 17; ++ranks)
        run_threads(ranks, every_collective_gives_the_claimed_result);
}

} // namespace
} // namespace sextant::test
