// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"

#include "sextant/comm/mpi.hpp"

#include <chrono>
#include <thread>

#include <mpi.h>

namespace sextant::test {
namespace {

/// A barrier in the destructor that sleeps between tests. MPI_Barrier polls, which would take cores
/// from the ranks of the group.
struct Meeting {
    ~Meeting() {
        MPI_Request all_here;
        MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
        for (int done = 0; !done; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
            MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
    }
};

} // namespace

void on_group(int size, const std::function<void(const Communicator&)>& body) {
    int rank = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (size > all)
        return;
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &group);
    const Meeting at_the_end;
    if (group == MPI_COMM_NULL)
        return;
    body(from_mpi(group));
    MPI_Comm_free(&group);
}

} // namespace sextant::test
