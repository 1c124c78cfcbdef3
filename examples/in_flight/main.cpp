// SPDX-License-Identifier: BSD-3-Clause
// Draws and blends frames of an animation: first one by one, then drawing the next frame while
// previous ones are in flight. Rank 0 receives the frames and prints the time per frame.
//
//   frames_in_flight --ranks 2
//   mpirun -n 2 frames_in_flight
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/compositor/frames_in_flight.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include <CLI/CLI.hpp>

namespace {

using namespace sextant;

struct Asked {
    int ranks = 2, frames = 12, size = 512, in_flight = 2;
};

using Pixels = std::vector<RgbaF32>;

/// Draws a translucent disc of this rank's colour that circles the centre.
void draw(int rank, int frame, int size, Pixels& to) {
    const float turn = .2f * static_cast<float>(frame) + static_cast<float>(rank);
    const float middle = .5f * static_cast<float>(size), radius = .3f * static_cast<float>(size);
    const float x = middle + .2f * static_cast<float>(size) * std::cos(turn);
    const float y = middle + .2f * static_cast<float>(size) * std::sin(turn);
    const RgbaF32 colour{rank % 2 == 0 ? .4f : .1f, rank % 3 == 0 ? .1f : .3f, .2f, .5f};
    for (int row = 0; row < size; ++row) {
        for (int column = 0; column < size; ++column) {
            const float away =
                std::hypot(static_cast<float>(column) - x, static_cast<float>(row) - y);
            to[static_cast<std::size_t>(row * size + column)] = away < radius ? colour : RgbaF32{};
        }
    }
}

/// A substitute for displaying a frame: returns the sum of its opacities.
double shown(const Frame& frame) {
    double sum = 0;
    for (const RgbaF32& pixel : frame.pixels<RgbaF32>())
        sum += pixel.a;
    return sum;
}

std::vector<double> one_by_one(const Communicator& communicator, const Asked& requested) {
    Compositor compositor(communicator, {requested.size, requested.size}, 1);
    Pixels image(static_cast<std::size_t>(requested.size * requested.size));
    std::vector<double> sums;
    for (int i = 0; i < requested.frames; ++i) {
        draw(communicator.rank(), i, requested.size, image);
        sums.push_back(shown(compositor.composite(std::span<const RgbaF32>(image))));
    }
    return sums;
}

/// Uses one image buffer per frame in flight; a buffer is reused only after its frame has
/// completed.
std::vector<double> in_flight(const Communicator& communicator, const Asked& requested) {
    const auto most = static_cast<std::size_t>(requested.in_flight);
    FramesInFlight frames(communicator, {requested.size, requested.size}, 1, requested.in_flight);
    std::vector<Pixels> images(most,
                               Pixels(static_cast<std::size_t>(requested.size * requested.size)));
    std::vector<PendingFrame> pending;
    std::vector<double> sums;
    for (int i = 0; i < requested.frames; ++i) {
        if (pending.size() == most) {
            sums.push_back(shown(pending.front().wait()));
            pending.erase(pending.begin());
        }
        Pixels& image = images[static_cast<std::size_t>(i) % most];
        draw(communicator.rank(), i, requested.size, image);
        pending.push_back(frames.start(std::span<const RgbaF32>(image)));
    }
    for (PendingFrame& frame : pending)
        sums.push_back(shown(frame.wait()));
    return sums;
}

struct Timed {
    std::vector<double> sums;
    double milliseconds; ///< time per frame
};

template <class Configuration>
Timed timed(const Communicator& communicator, const Asked& requested, Configuration configuration) {
    communicator.barrier();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<double> sums = configuration(communicator, requested);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return {std::move(sums), took.count() / requested.frames};
}

void show_both(const Communicator& communicator, const Asked& requested) {
    const Timed before = timed(communicator, requested, one_by_one);
    const Timed at_once = timed(communicator, requested, in_flight);
    if (communicator.rank() == 0) {
        std::printf("one by one: %.2f ms per frame; %d in flight: %.2f ms; %s\n",
                    before.milliseconds, requested.in_flight, at_once.milliseconds,
                    before.sums == at_once.sums ? "the results agree" : "RESULTS DIFFER");
    }
}

} // namespace

int main(int argc, char** argv) {
    Asked requested;
    CLI::App app("Compares blending frames one by one with several frames in flight.");
    app.add_option("--ranks", requested.ranks,
                   "number of ranks, which are threads unless started by mpirun")
        ->check(CLI::Range(1, 64));
    app.add_option("--frames", requested.frames)->check(CLI::Range(1, 10000));
    app.add_option("--size", requested.size, "width and height of an image in pixels")
        ->check(CLI::Range(1, 8192));
    app.add_option("--in-flight", requested.in_flight, "maximum number of frames in flight")
        ->check(CLI::Range(1, 16));
    CLI11_PARSE(app, argc, argv);
    try {
        launch(requested.ranks,
               [&](const Communicator& communicator) { show_both(communicator, requested); });
    } catch (const AgreedFailure& failure) {
        if (!failure.reported())
            std::fprintf(stderr, "frames_in_flight: %s\n", failure.what());
        return 1;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "frames_in_flight: %s\n", failure.what());
        return 1;
    }
    return 0;
}
