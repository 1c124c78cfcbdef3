// SPDX-License-Identifier: BSD-3-Clause
// Kernels run by the executor, over threads.
#include "sextant/comm/execute.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "tests/support/line_sums.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// An operator that only defines the element type; nothing is folded.
const Operator floats = [] {
    Operator op;
    op.element = {"f32", sizeof(float)};
    return op;
}();

/// A rank's part of the line, in which element n has the value n², with one neighbour on each side.
std::vector<float> squares(int rank) {
    std::vector<float> line;
    for (Elements e = 0; e < each + 2; ++e) {
        const auto n = static_cast<float>(rank * each + e);
        line.push_back(n * n);
    }
    return line;
}

std::vector<float> result_of(const Execution& execution) {
    const auto bytes = execution.result();
    const auto* const first = reinterpret_cast<const float*>(bytes.data());
    return {first, first + bytes.size() / sizeof(float)};
}

TEST(KernelsOnThreads, neighbour_sums_across_ranks_are_right_in_repeated_runs) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
        run_threads(ranks, [&](Communicator communicator) {
            const int rank = communicator.rank();
            Execution execution(communicator, line_sums(ranks, rank), floats, {}, {sum_line});
            std::vector<float> line = squares(rank);
            if (rank > 0)
                line.front() = -1; // to be overwritten by the received value
            if (rank < ranks - 1)
                line.back() = -1;
            execution.bind(0, std::as_writable_bytes(std::span(line)));
            for (int run = 0; run < 3; ++run) {
                execution.run();
                const std::vector<float> whole = squares(rank), sums = result_of(execution);
                ASSERT_EQ(sums.size(), static_cast<std::size_t>(each));
                for (std::size_t i = 0; i < sums.size(); ++i)
                    EXPECT_EQ(sums[i], whole[i] + whole[i + 1] + whole[i + 2]) << rank;
            }
        });
    }
}

TEST(KernelsOnThreads, an_exception_in_a_kernel_fails_its_rank_without_a_deadlock) {
    std::atomic<int> own = 0;
    run_threads(3, [&](Communicator communicator) {
        const int rank = communicator.rank();
        const Kernel kernel = [&](const Computation& computation) {
            if (rank == 1)
                throw std::runtime_error("this rank's kernel broke");
            sum_line(computation);
        };
        Execution execution(communicator, line_sums(3, rank), floats, {}, {kernel});
        std::vector<float> line = squares(rank);
        execution.bind(0, std::as_writable_bytes(std::span(line)));
        for (int run = 0; run < 2; ++run) {
            try {
                execution.run();
            } catch (const PeerFailed&) {
            } catch (const std::runtime_error&) {
                ++own;
            }
        }
    });
    EXPECT_EQ(own, 2);
}

/// Rank 0 sends the middle columns of its 4 rows, and rank 1 copies them by a kernel.
Program columns(int rank, bool in_place) {
    ProgramBuilder builder;
    const Region rows = builder.input(4 * 10);
    const Region middle{rows.buffer, 3, 5, 10, 4};
    if (rank == 0) {
        builder.send(1, middle);
        return builder.finish({});
    }
    const Region came = builder.scratch(20), made = builder.output(20);
    builder.receive(0, came);
    builder.compute(0, std::span(&came, 1), std::span(&made, 1), in_place);
    return builder.finish(made);
}

TEST(KernelsOnThreads, kernels_read_strided_data_of_other_ranks_in_place) {
    for (const bool in_place : {false, true}) {
        for (const bool sparse : {false, true}) {
            std::vector<float> rows(40);
            std::iota(rows.begin(), rows.end(), 1.F);
            run_threads(2, [&](Communicator communicator) {
                const int rank = communicator.rank();
                std::vector<float> unused(40);
                bool read_there = false;
                const Kernel copy = [&](const Computation& computation) {
                    const Blocks& from = computation.sources[0];
                    read_there = reinterpret_cast<const float*>(from.base) == rows.data() + 3;
                    EXPECT_EQ(from.bytes(), 20 * 4);
                    sextant::copy(computation.places, computation.sources);
                };
                Operator op = floats;
                op.fill_identity = [](std::byte* to, Elements elements) {
                    std::fill_n(to, 4 * elements, std::byte{0});
                };
                Execution execution(communicator, columns(rank, in_place), op, {.sparse = sparse},
                                    {copy});
                execution.bind(0, std::as_writable_bytes(std::span(rank == 0 ? rows : unused)));
                for (int run = 0; run < 2; ++run) {
                    execution.run();
                    if (rank == 0)
                        continue;
                    const std::vector<float> result = result_of(execution);
                    for (std::size_t i = 0; i < result.size(); ++i)
                        EXPECT_EQ(result[i], rows[i / 5 * 10 + 3 + i % 5]);
                    EXPECT_EQ(read_there, in_place && !sparse);
                }
            });
        }
    }
}

TEST(KernelsOnThreads, a_missing_kernel_is_reported_as_a_logic_error) {
    run_threads(1, [](Communicator communicator) {
        EXPECT_THROW(Execution(communicator, line_sums(1, 0), floats), std::logic_error);
    });
}

TEST(KernelsOnThreads, the_trace_contains_times_and_results_of_kernels) {
    run_threads(2, [](Communicator communicator) {
        const int rank = communicator.rank();
        Execution execution(communicator, line_sums(2, rank), floats, {.trace = true}, {sum_line});
        std::vector<float> line = squares(rank);
        execution.bind(0, std::as_writable_bytes(std::span(line)));
        execution.run();
        int computations = 0;
        Elements made = 0;
        for (const Event& event : execution.trace().events) {
            if (event.activity != Activity::compute)
                continue;
            ++computations;
            made += event.elements;
        }
        EXPECT_EQ(computations, 3);
        EXPECT_EQ(made, each);
    });
}

} // namespace
} // namespace sextant::test
