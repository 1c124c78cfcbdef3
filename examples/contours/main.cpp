// SPDX-License-Identifier: BSD-3-Clause
// Traces the edges of an image. Usage: contours IMAGE LINES, or mpirun -n 2 contours IMAGE LINES
#include "sextant/communicator.hpp"
#include "sextant/contours.hpp"
#include "sextant/format.hpp"

#include <cstdio>
#include <thread>

using namespace sextant;

void trace(const Communicator& communicator, const char* image, const char* lines) {
    RowSource source(format::open_frames(image), 0);
    ContoursOptions options;
    options.sigma = 2;
    options.scratch = lines; // data that exceeds memory is stored in the same folder
    const ContoursResult result =
        ContourTracing(communicator, options).run(source, [&](LineReader& contours) {
            format::line_format_of(lines).write(lines, contours);
        });
    if (communicator.rank() == 0)
        std::printf("%lld contours of %lld points\n", static_cast<long long>(result.contours),
                    static_cast<long long>(result.points));
}

int main(int argc, char** argv) try {
    if (argc != 3)
        return std::fputs("usage: contours IMAGE LINES\n", stderr), 2;
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
    launch(threads, [&](const Communicator& ranks) { trace(ranks, argv[1], argv[2]); });
} catch (const std::exception& error) {
    const auto* const agreed = dynamic_cast<const AgreedFailure*>(&error);
    if (!agreed || !agreed->reported()) // launch() has not printed the error
        std::fprintf(stderr, "contours: %s\n", error.what());
    return 1;
}
