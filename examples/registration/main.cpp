// SPDX-License-Identifier: BSD-3-Clause
// Registers and averages a series of frames. Usage: registration SERIES AVERAGE, also under mpirun
#include "sextant/communicator.hpp"
#include "sextant/format.hpp"
#include "sextant/registration.hpp"

#include <cstdio>

using namespace sextant;

void average(const Communicator& communicator, const char* series, const char* output) {
    auto source = format::open_frames(series);
    const FrameHeader header = source->header();
    RegistrationOptions options;
    options.reproducible = true;
    RegistrationHooks hooks;
    hooks.write = [&](const RegistrationResult& result, RegisteredFrames& frames) {
        FrameHeader one{1, header.shape};
        one.pixel = header.pixel;
        const auto sink = format::create_frames(output, one);
        sink->write(result.average.mean);
        sink->commit();
        std::printf("%zu frames\n", frames.numbers().size());
    };
    SeriesRegistration(communicator, options).run(std::move(source), hooks);
}

int main(int argc, char** argv) try {
    if (argc != 3)
        return std::fputs("usage: registration SERIES AVERAGE\n", stderr), 2;
    launch(2, [&](const Communicator& ranks) { average(ranks, argv[1], argv[2]); });
} catch (const std::exception& error) {
    const auto* const agreed = dynamic_cast<const AgreedFailure*>(&error);
    if (!agreed || !agreed->reported()) // launch() has not printed the error
        std::fprintf(stderr, "registration: %s\n", error.what());
    return 1;
}
