// SPDX-License-Identifier: BSD-3-Clause
// Every scan over MPI, and MPI's own scans, in groups of 1, 2, 3, 4 and 7 ranks, with an operator
// that is exact and not commutative.
#include "sextant/lab/mpi_baselines.hpp"

#include "tests/mpi/groups.hpp"
#include "tests/support/scan_runs.hpp"

namespace sextant::test {
namespace {

template <class Value>
void every_baseline_gives_the_serial_scan(const Communicator& communicator, Elements elements) {
    const int rank = communicator.rank();
    const std::vector<Value> input = scan_input<Value>(rank, elements);
    for (const lab::ScanBaseline& row : lab::mpi_scan_baselines(communicator)) {
        const auto scan = row.prepare(communicator, exact_operator<Value>(), elements);
        const scan::Form form = row.exclusive ? scan::Form::exclusive : scan::Form::inclusive;
        const std::vector<Value> expected = expected_scan<Value>(form, rank, elements);
        for (int time = 0; time < 2; ++time) {
            scan->run(std::as_bytes(std::span(input)));
            const auto bytes = scan->result();
            ASSERT_EQ(bytes.size(), expected.size() * sizeof(Value)) << row.name;
            EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0) << row.name;
        }
    }
}

TEST(Mpi, mpi_scans_equal_the_serial_scan_in_every_group) {
    for (int size : group_sizes) {
        on_group(size, [](const Communicator& communicator) {
            EXPECT_EQ(lab::mpi_scan_baselines(communicator).size(), 4u);
            every_baseline_gives_the_serial_scan<Matrix>(communicator, 1);
            every_baseline_gives_the_serial_scan<Digits>(communicator, 37);
        });
    }
}

} // namespace
} // namespace sextant::test
