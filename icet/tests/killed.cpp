// SPDX-License-Identifier: BSD-3-Clause
// Draws frames until one rank is killed within a frame: killed.sh expects the others to end.
#include <csignal>
#include <cstdio>

#include <IceT.h>
#include <IceTMPI.h>

namespace {

int rank, frame;

void draw(const IceTDouble*, const IceTDouble*, const IceTFloat*, const IceTInt*, IceTImage) {
    if (frame == 3 && rank == 1)
        std::raise(SIGKILL);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    IceTCommunicator communicator = icetCreateMPICommunicator(MPI_COMM_WORLD);
    icetCreateContext(communicator);
    icetAddTile(0, 0, 640, 480, 0);
    icetStrategy(ICET_STRATEGY_REDUCE);
    icetDrawCallback(draw);
    const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const float background[4] = {0, 0, 0, 0};
    for (frame = 0; frame < 5; ++frame) {
        icetDrawFrame(identity, identity, background);
        if (rank == 0)
            std::printf("frame %d\n", frame);
        std::fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD); // rank 0 prints frame 2 before rank 1 is killed
    }
    std::puts("no rank was killed");
    MPI_Finalize();
}
