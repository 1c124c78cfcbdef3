// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests on every rank of MPI_COMM_WORLD; rank 0 prints, and a failure on any rank counts.
#include <gtest/gtest.h>
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    ::testing::InitGoogleTest(&argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (rank != 0)
        delete listeners.Release(listeners.default_result_printer());
    int failed = RUN_ALL_TESTS(), failed_anywhere = 0;
    if (failed && rank != 0)
        std::fprintf(stderr, "rank %d: a test failed\n", rank);
    MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed_anywhere;
}
