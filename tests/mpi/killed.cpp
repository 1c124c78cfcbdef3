// SPDX-License-Identifier: BSD-3-Clause
// A process is killed during a run: the other processes of its node detect this and stop waiting.
#include "sextant/comm/execute.hpp"
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <csignal>
#include <cstdio>

#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    using namespace sextant;
    MPI_Init(&argc, &argv);
    std::signal(SIGTERM, SIG_IGN); // sent by the launcher, possibly before the check
    const SharedNodes nodes = share_nodes(from_mpi(MPI_COMM_WORLD), {0, Bytes{16} << 20});
    const Communicator& communicator = nodes.communicator;
    const int rank = communicator.rank();
    const auto task = compositing::one_image_each(communicator.size(), 30000, 0);
    Operator over = kernel::find("over");
    if (rank == 1)
        over.fold = [](auto, auto, auto) { std::raise(SIGKILL); };
    Execution execution(
        communicator, compositing::program(compositing::find("direct-send"), task, {}, rank), over);
    const Memory image = communicator.memory(task.elements * over.element.size);
    execution.bind(0, image.bytes());
    try {
        execution.run();
    } catch (const PeerFailed& error) {
        std::fprintf(stderr, "heard: %s\n", error.what());
    }
    _exit(1); // MPI has lost a process: no orderly shutdown is possible
}
