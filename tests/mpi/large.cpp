// SPDX-License-Identifier: BSD-3-Clause
// An image of more than 2 GiB on two ranks, as one message (binary tree) and in halves, over MPI
// and over threads. Needs about 9 GiB; exits with code 77 ("skipped") if the machine has less.
#include "sextant/comm/launch.hpp"
#include "sextant/compositor/compositor.hpp"

#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace {

using namespace sextant;

constexpr ImageShape shape{16384, 8192};
constexpr int skipped = 77;

Bytes available_memory() {
    std::ifstream file("/proc/meminfo");
    for (std::string word; file >> word;) {
        Bytes kibibytes = 0;
        if (word == "MemAvailable:" && file >> kibibytes)
            return kibibytes << 10;
    }
    return 0;
}

/// A pixel whose channels encode its position and are exact in a float.
RgbaF32 pixel(int rank, Elements i) {
    const auto low = static_cast<float>(i & 0xffff), high = static_cast<float>(i >> 16);
    return {low, high, static_cast<float>(rank), rank == 0 ? .5f : 1.f};
}

void composite(const Communicator& communicator, const std::string& algorithm) {
    Image image(shape, rgba_f32);
    const auto pixels = image.pixels<RgbaF32>();
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = pixel(communicator.rank(), static_cast<Elements>(i));
    CompositeOptions options;
    options.algorithm = algorithm;
    Compositor compositor(communicator, shape, 1, options);
    const Frame frame = compositor.composite(std::as_const(image).bytes());
    if (communicator.rank() != 0)
        return;
    if (frame.count != shape.elements())
        throw std::logic_error(fmt::format("{} pixels", frame.count));
    const auto picture = frame.pixels<RgbaF32>();
    for (std::size_t i = 0; i < picture.size(); ++i) {
        const RgbaF32 own = pixel(0, static_cast<Elements>(i));
        if (picture[i] != RgbaF32{1.5f * own.r, 1.5f * own.g, .5f, 1.f})
            throw std::logic_error(fmt::format("{}: pixel {} is wrong", algorithm, i));
    }
    fmt::print("{}: {} pixels, {:.2f} GiB, right\n", algorithm, picture.size(),
               static_cast<double>(frame.bytes.size()) / (1 << 30));
}

} // namespace

int main(int, char** argv) {
    if (available_memory() < Bytes{12} << 30) {
        fmt::print("skipped: less than 12 GiB of memory are free\n");
        return skipped;
    }
    try {
        launch(2, [&](Communicator communicator) {
            for (int i = 1; argv[i]; ++i)
                composite(communicator, argv[i]);
        });
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
