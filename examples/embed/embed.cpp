// SPDX-License-Identifier: BSD-3-Clause
// Each rank draws a translucent stripe; rank 0 gets the composited image. Run: mpirun -n 2 ./embed
// Works with any number of ranks; stripes are clipped at the right edge.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <sextant/compositor.hpp>

constexpr int width = 640, height = 480;

std::vector<sextant::RgbaF32> stripe(int rank) {
    std::vector<sextant::RgbaF32> pixels(width * height); // premultiplied by opacity
    const int last = std::min(width, 100 * rank + 300);
    for (int y = 0; y < height; ++y) {
        for (int x = 100 * rank; x < last; ++x)
            pixels[y * width + x] = {rank == 0 ? .5f : 0, .25f, 0, .5f};
    }
    return pixels;
}

void blend(int rank) {
    const std::vector<sextant::RgbaF32> pixels = stripe(rank);
    sextant::Compositor compositor(sextant::from_mpi(MPI_COMM_WORLD), {width, height}, 1);
    const sextant::Frame frame =
        compositor.composite<sextant::RgbaF32>(pixels); // call once per frame
    if (rank == 0)
        std::printf("opacity at (250, 0): %.3f\n", frame.pixels<sextant::RgbaF32>()[250].a);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    blend(rank); // destroys the compositor before MPI_Finalize
    MPI_Finalize();
}
