// SPDX-License-Identifier: BSD-3-Clause
// Every scan on threads, with an operator that is exact but not commutative.
#include "sextant/comm/threads.hpp"
#include "sextant/lab/mpi_baselines.hpp"

#include "tests/support/scan_runs.hpp"

namespace sextant::test {
namespace {

TEST(Threads, every_scan_equals_the_serial_scan_on_1_to_17_ranks) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
        run_threads(ranks, [](const Communicator& communicator) {
            every_scan_gives_the_serial_one<Matrix>(communicator, 1);
            every_scan_gives_the_serial_one<Digits>(communicator, 5);
        });
    }
}

TEST(Threads, mpi_scans_are_unavailable_without_mpi) {
    run_threads(2, [](const Communicator& communicator) {
        EXPECT_TRUE(lab::mpi_scan_baselines(communicator).empty());
    });
}

TEST(ExactOperators, distinguish_every_order_of_operands) {
    const auto x = exact_value<Matrix>(1), y = exact_value<Matrix>(2), z = exact_value<Matrix>(3);
    EXPECT_NE(combine(x, y), combine(y, x));
    EXPECT_EQ(combine(combine(x, y), z), combine(x, combine(y, z)));
    const auto a = exact_value<Digits>(1), b = exact_value<Digits>(2), c = exact_value<Digits>(3);
    EXPECT_NE(combine(a, b), combine(b, a));
    EXPECT_EQ(combine(combine(a, b), c), combine(a, combine(b, c)));
}

} // namespace
} // namespace sextant::test
