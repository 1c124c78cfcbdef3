// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/catalogue.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/exact_operators.hpp"
#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

// Tests of scans of exact values on any communicator, used by the tests over threads and over MPI.
namespace sextant::test {

/// The input of rank `rank`: element e is value rank + 100 e of the series.
template <class Value>
std::vector<Value> scan_input(int rank, Elements elements) {
    return exact_values<Value>(static_cast<std::uint64_t>(rank), elements, 100);
}

/// The expected result: each element folded over the ranks, serially.
template <class Value>
std::vector<Value> expected_scan(scan::Form form, int rank, Elements elements) {
    const int last = form == scan::Form::inclusive ? rank : rank - 1;
    if (last < 0)
        return {};
    std::vector<Value> sums = scan_input<Value>(0, elements);
    for (int other = 1; other <= last; ++other) {
        const std::vector<Value> next = scan_input<Value>(other, elements);
        for (std::size_t e = 0; e < sums.size(); ++e)
            sums[e] = combine(sums[e], next[e]);
    }
    return sums;
}

/// Runs every algorithm in every form and association several times.
template <class Value>
void every_scan_gives_the_serial_one(const Communicator& communicator, Elements elements) {
    const int rank = communicator.rank();
    for_each_scan(
        [&](const scan::Algorithm& algorithm, const scan::Tuning& tuning, scan::Form form) {
            const scan::Task task{communicator.size(), elements, form};
            for (const Association association : {Association::in_order, Association::by_arrival}) {
                const std::vector<Value> result = run_program(
                    communicator, scan::program(algorithm, task, tuning, rank),
                    exact_operator<Value>(), association, scan_input<Value>(rank, elements), 3);
                EXPECT_EQ(result, expected_scan<Value>(form, rank, elements))
                    << describe(algorithm, task, tuning) << ", " << name(association) << ", rank "
                    << rank;
            }
        });
}

} // namespace sextant::test
