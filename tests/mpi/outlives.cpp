// SPDX-License-Identifier: BSD-3-Clause
// A compositor may be destroyed after MPI_Finalize, even if it owns datatypes, as it does for
// several images per rank.
#include "sextant/comm/mpi.hpp"
#include "sextant/compositor/compositor.hpp"

#include <vector>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    sextant::Compositor compositor(sextant::from_mpi(MPI_COMM_WORLD), {30, 20}, 2);
    const std::vector<sextant::RgbaF32> images(2 * 30 * 20, {.25f, .25f, .25f, .5f});
    compositor.composite(std::span<const sextant::RgbaF32>(images));
    MPI_Finalize();
}
