// SPDX-License-Identifier: BSD-3-Clause
// Runs the executor over SimGrid's MPI, as one rank of a composite; rank 0 prints the simulated
// time. Blending does not touch pixels; it takes the given time.
//
//     smpirun ... libsmpi_run.so ALGORITHM RADICES|- PIXELS SECONDS-PER-APPLICATION
#include "sextant/comm/execute.hpp"
#include "sextant/comm/mpi.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include <mpi.h>

namespace {

using namespace sextant;

constexpr double host_flops = 1e9; ///< speed of the hosts of every shipped platform

Operator timed(double seconds_per_application) {
    Operator op;
    op.name = "timed";
    op.element = rgba_f32;
    op.exact_when_split = true;
    op.fold = FoldFunction([=](FoldFunction::Sources sources, std::byte*, Elements elements) {
        const auto applications = static_cast<double>(sources.size() - 1);
        smpi_execute_flops(host_flops * seconds_per_application * applications *
                           static_cast<double>(elements));
    });
    return op;
}

std::vector<int> radices_in(const std::string& text) {
    std::vector<int> radices;
    std::istringstream numbers(text);
    for (std::string number; std::getline(numbers, number, ',') && number != "-";)
        radices.push_back(std::stoi(number));
    return radices;
}

Program program_of(const std::string& algorithm, const std::vector<int>& radices, Elements pixels,
                   const Communicator& communicator) {
    const compositing::Algorithm& row = compositing::find(algorithm);
    compositing::Tuning tuning = row.tunings(communicator.size()).front();
    if (!radices.empty())
        tuning.radices = radices;
    const auto task = compositing::one_image_each(communicator.size(), pixels);
    return compositing::program(row, task, tuning, communicator.rank());
}

/// Time from the start on the first rank to the end on the last one.
double simulated_seconds(Execution& execution) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    execution.run();
    const double end = MPI_Wtime();
    double first = 0, last = 0;
    MPI_Allreduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return last - first;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const Communicator communicator = from_mpi(MPI_COMM_WORLD);
    const Elements pixels = std::atoll(argv[3]);
    const Memory image(pixels * rgba_f32.size);
    Execution execution(communicator,
                        program_of(argv[1], radices_in(argv[2]), pixels, communicator),
                        timed(std::atof(argv[4])), {.association = Association::by_arrival});
    execution.bind(0, image.bytes());
    const double seconds = simulated_seconds(execution);
    if (communicator.rank() == 0)
        std::printf("seconds %.9g\n", seconds);
    MPI_Finalize();
    return 0;
}
