// SPDX-License-Identifier: BSD-3-Clause
// Calls the installed libraries like a user's program, on threads, and prints checksums of all
// results. Catches an exception that a library throws.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sextant/compositor.hpp>
#include <sextant/filter.hpp>
#include <sextant/format.hpp>
#include <sextant/label.hpp>
#include <sextant/registration.hpp>

namespace {

constexpr std::int64_t size = 128, frames = 4;

/// Blobs on a wide lattice, which move by a few pixels from frame to frame.
std::vector<float> make_series() {
    std::vector<float> samples;
    for (std::int64_t frame = 0; frame < frames; ++frame)
        for (std::int64_t y = 0; y < size; ++y)
            for (std::int64_t x = 0; x < size; ++x) {
                const double u = static_cast<double>(x) + 1.5 * static_cast<double>(frame);
                const double v = static_cast<double>(y) - static_cast<double>(frame);
                samples.push_back(static_cast<float>(20 + 10 * std::sin(u / 9) * std::sin(v / 7) +
                                                     5 * std::cos(u * v / 900)));
            }
    return samples;
}

std::unique_ptr<sextant::FrameSource> open(std::span<const float> samples, std::int64_t count) {
    sextant::FrameHeader header{.frames = count, .shape = {size, size}};
    return std::make_unique<sextant::MemoryFrames>(std::move(header), std::as_bytes(samples));
}

/// Prints the number of bytes and their FNV-1a hash.
void print(const std::string& name, std::span<const std::byte> bytes) {
    std::uint64_t hash = 14695981039346656037u;
    for (const std::byte byte : bytes)
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
    std::printf("%s: %zu bytes, %016llx\n", name.c_str(), bytes.size(),
                static_cast<unsigned long long>(hash));
}

void label(const sextant::Communicator& ranks, std::span<const float> image) {
    std::vector<float> strong(image.begin(), image.end());
    for (float& sample : strong)
        sample = sample > 24 ? sample : 0;
    for (std::size_t i = 0; i < 8 * size; ++i) // a chequerboard, connected only by diagonals
        strong[i] = (i + i / size) % 2 == 0 ? 1.f : 0.f;
    sextant::RowSource source(open(strong, 1), 0, sextant::ReadAs::values);
    const sextant::LabelOptions options{.measure = true};
    std::vector<sextant::kernel::Label> labels;
    const sextant::LabelResult result =
        sextant::Labelling(ranks, options).run(source, [&](auto, auto rows) {
            labels.insert(labels.end(), rows.begin(), rows.end());
        });
    if (ranks.rank() != 0)
        return;
    std::printf("%lld components\n", static_cast<long long>(result.components));
    print("labels", std::as_bytes(std::span(labels)));
    print("components", std::as_bytes(std::span(result.table)));
}

void filter(const sextant::Communicator& ranks, std::span<const float> image) {
    sextant::RowSource source(open(image, 1), 0);
    std::vector<float> planes;
    const sextant::FilterOptions options{.sigma = 2, .derivatives = {"xx", "gradient-magnitude"}};
    const sextant::FilterResult result =
        sextant::Filtering(ranks, options).run(&source, [&](int, auto, auto rows) {
            planes.insert(planes.end(), rows.begin(), rows.end());
        });
    if (ranks.rank() == 0) {
        std::printf("%d window\n", result.windows);
        print("planes", std::as_bytes(std::span(planes)));
    }
}

void align(const sextant::Communicator& ranks, std::span<const float> series,
           const std::string& folder) {
    sextant::RegistrationOptions options;
    options.reproducible = true;
    const sextant::RegistrationResult result =
        sextant::SeriesRegistration(ranks, options).run(open(series, frames));
    if (ranks.rank() != 0)
        return;
    for (const sextant::FrameRegistration& frame : result.frames)
        std::printf("frame %lld: (%.4f, %.4f)\n", static_cast<long long>(frame.frame),
                    frame.result.motion.tx, frame.result.motion.ty);
    print("average", std::as_bytes(std::span(result.average.mean)));
    const std::string path = folder + "/average.tif";
    const auto sink = sextant::format::create_frames(path, {1, {size, size}});
    sink->write(result.average.mean);
    sink->commit();
    std::vector<float> stored(static_cast<std::size_t>(size * size));
    sextant::format::open_frames(path)->read_frame(0, stored);
    print("stored average", std::as_bytes(std::span(stored)));
}

void composite(const sextant::Communicator& ranks) {
    std::vector<sextant::RgbaF32> pixels(static_cast<std::size_t>(size * size));
    for (std::size_t i = 0; i < pixels.size(); i += 2)
        pixels[i] = {.1f * static_cast<float>(ranks.rank() + 1), .2f, 0, .5f};
    sextant::CompositeOptions options;
    options.algorithm = "direct-send";
    options.background = sextant::RgbaF32{0, 0, 1, 1};
    sextant::Compositor compositor(ranks, {size, size}, 1, options);
    for (const int first : {0, 1}) {
        const std::vector<int> order{first, 1 - first, 2};
        const sextant::Frame frame =
            compositor.composite<sextant::RgbaF32>(pixels, {.order = order});
        if (ranks.rank() == 0)
            print("composited image", frame.bytes);
    }
    if (ranks.rank() == 0)
        std::printf("%s\n", compositor.plan().text().c_str());
}

} // namespace

int main(int, char** arguments) {
    const std::vector<float> series = make_series();
    const std::span<const float> first(series.data(), static_cast<std::size_t>(size * size));
    sextant::run_threads(3, [&](const sextant::Communicator& ranks) {
        label(ranks, first);
        filter(ranks, first);
        align(ranks, series, arguments[1]);
        composite(ranks);
    });
    try {
        sextant::run_threads(2, [](const sextant::Communicator& ranks) {
            sextant::Compositor(ranks, {size, size}, 1, {.blend = "under"});
        });
    } catch (const sextant::AgreedFailure& error) {
        std::printf("%s\n", error.what());
    }
}
