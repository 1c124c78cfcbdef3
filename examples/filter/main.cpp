// SPDX-License-Identifier: BSD-3-Clause
// Filters an image. Usage: filter IMAGE PLANES, or mpirun -n 2 filter IMAGE PLANES
#include "sextant/communicator.hpp"
#include "sextant/filter.hpp"
#include "sextant/format.hpp"

#include <cstdio>
#include <optional>
#include <thread>

using namespace sextant;

void filter(const Communicator& communicator, const char* image, const char* planes) {
    RowSource source(format::open_frames(image), 0);
    std::optional<PlaneSink> sink;
    if (communicator.rank() == 0)
        sink.emplace(format::create_frames(planes, {2, source.shape(), Sample::f32},
                                           {format::StackAxis::slices}));
    const FilterOptions options{.sigma = 2, .derivatives = {"gradient-magnitude", "laplacian"}};
    const FilterResult result = Filtering(communicator, options)
                                    .run(&source, [&](auto derivative, auto first_row, auto rows) {
                                        sink->write(derivative, first_row, rows);
                                    });
    if (!sink)
        return;
    sink->commit();
    std::printf("%s\n", result.plan.text().c_str());
}

int main(int argc, char** argv) try {
    if (argc != 3)
        return std::fputs("usage: filter IMAGE PLANES\n", stderr), 2;
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
    launch(threads, [&](const Communicator& ranks) { filter(ranks, argv[1], argv[2]); });
} catch (const std::exception& error) {
    const auto* const agreed = dynamic_cast<const AgreedFailure*>(&error);
    if (!agreed || !agreed->reported()) // launch() has not printed the error
        std::fprintf(stderr, "filter: %s\n", error.what());
    return 1;
}
