// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/exact_operators.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

// Tests of collectives of values on any communicator, used over threads and over MPI.
namespace sextant::test {

/// Pixel i has the value i; the result is checked against the claim that proofs use. Runs twice
/// with the same buffers.
inline void runs_on_values(const Communicator& communicator, const collective::Algorithm& algorithm,
                           const Grid& grid) {
    const int rank = communicator.rank();
    const Claim claim = algorithm.claim(grid);
    const Program program = with_packed_result(algorithm.program(grid, rank));
    std::vector<Matrix> input;
    if (!program.buffers.empty() && program.buffers[0].role == Role::input) {
        for (Elements e = 0; e < program.buffers[0].size; ++e)
            input.push_back(
                exact_value<Matrix>(static_cast<std::uint64_t>(claim.given(rank, 0, e).element)));
    }
    std::vector<Symbol> result;
    for (const Matrix& value : run_program(communicator, program, exact_operator<Matrix>(),
                                           Association::in_order, input, 2)) {
        const std::uint64_t number = value.a - exact_value<Matrix>(0).a;
        EXPECT_EQ(value, exact_value<Matrix>(number));
        result.push_back({static_cast<Elements>(number), 0, 1, 0});
    }
    EXPECT_EQ(claim.wanted(rank, result), "")
        << fmt::format("{} of {}x{} on {}x{}, rank {}", algorithm.name, grid.width, grid.height,
                       grid.columns, grid.rows, rank);
}

/// Tests every algorithm of the catalogue on its own grid, on columns and on tiles; images are
/// divided unevenly, have empty pieces, or are empty.
inline void every_collective_gives_the_claimed_result(const Communicator& communicator) {
    const int ranks = communicator.size();
    for (const collective::Algorithm& algorithm : collective::catalogue()) {
        for (const Elements elements : {0, 3, 217})
            runs_on_values(communicator, algorithm, algorithm.grid(ranks, elements));
        runs_on_values(communicator, algorithm, {2 * ranks + 1, ranks + 1, ranks, 1});
        runs_on_values(communicator, algorithm, near_square(ranks, 3 * ranks + 2, 2 * ranks + 1));
    }
}

} // namespace sextant::test
