// SPDX-License-Identifier: BSD-3-Clause
// Each rank brings a translucent stripe; rank 0 gets them blended. mpirun -n 3 ./embed
#include "sextant/comm/mpi.hpp"
#include "sextant/operation/compositor.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<sextant::RgbaF32> pixels(640 * 480); // the caller's own, premultiplied
    for (int x = 100 * rank; x < 100 * rank + 300; ++x) {
        for (int y = 0; y < 480; ++y)
            pixels[y * 640 + x] = {rank == 0 ? .5f : 0, .25f, 0, .5f};
    }
    sextant::Compositor compositor(sextant::from_mpi(MPI_COMM_WORLD), {640, 480}, 1);
    const sextant::Frame frame =
        compositor.composite<sextant::RgbaF32>(pixels); // and again for every frame
    if (rank == 0)
        std::printf("opacity at (250, 0): %.3f\n", frame.pixels<sextant::RgbaF32>()[250].a);
    MPI_Finalize();
}
