// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"

#include "sextant/comm/mpi.hpp"

#include <mpi.h>

namespace sextant::test {

void on_group(int size, const std::function<void(const Communicator&)>& body) {
    int rank = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (size > all)
        return;
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &group);
    if (group == MPI_COMM_NULL)
        return;
    body(from_mpi(group));
    MPI_Comm_free(&group);
}

} // namespace sextant::test
