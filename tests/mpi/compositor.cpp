// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/mpi.hpp"

#include "tests/mpi/groups.hpp"
#include "tests/support/compositor_cases.hpp"
#include "tests/support/flight_cases.hpp"

namespace sextant::test {
namespace {

const bool compositor_added = add_cases("CompositorOverMpi", compositor_cases(), on_group) &&
                              add_cases("FramesInFlightOverMpi", flight_cases(), on_group);

TEST(CompositorOverMpi, works_after_its_communicator_was_freed) {
    MPI_Comm callers = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &callers);
    const Communicator communicator = from_mpi(callers);
    Compositor compositor(communicator, {30, 20}, 1);
    MPI_Comm_free(&callers);
    expect_picture(communicator, compositor, {30, 20});
}

TEST(FromMpi, refuses_unsupported_communicators) {
    EXPECT_THROW(from_mpi(MPI_COMM_NULL), InvalidTask);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
    EXPECT_THROW(from_mpi(both), InvalidTask);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

} // namespace
} // namespace sextant::test
