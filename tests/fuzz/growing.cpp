// SPDX-License-Identifier: BSD-3-Clause
// Follows a series whose files change as arbitrary bytes state (growing_script.hpp).
#include "sextant/core/error.hpp"
#include "sextant/format/growing_frames.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/format/temporary_folder.hpp"
#include "tests/fuzz/growing_script.hpp"

namespace {

using sextant::format::GrowingFrames;
using Clock = std::chrono::steady_clock;

void require(bool holds, const char* what) {
    if (!holds)
        throw std::logic_error(what);
}

/// Reads a frame, which may be refused, and checks that no frame after the last one is read.
void read_last(GrowingFrames& frames) {
    constexpr sextant::Elements most = 1 << 20;
    const std::int64_t width = frames.header().shape.width;
    if (width > most)
        return;
    std::vector<float> row(static_cast<std::size_t>(width));
    for (const bool whole : {true, false}) {
        try {
            frames.read_rows(frames.whole() - (whole ? 1 : 0), {0, 1}, row);
            require(whole, "a frame after the last one was read");
        } catch (const sextant::InvalidFile&) {
            continue;
        }
    }
}

/// Follows a series until it is refused.
void follow(const std::string& name, const std::string& folder,
            sextant::test::GrowingScript& script) {
    std::unique_ptr<GrowingFrames> frames;
    while (!script.done()) {
        script.step(folder);
        const Clock::time_point begin = Clock::now();
        if (!frames) {
            try {
                frames = GrowingFrames::open(name, {});
            } catch (const sextant::InvalidFile&) {
                continue; // as the command does until there is a frame
            }
            require(frames->whole() >= 1, "a series without frames");
        } else {
            const std::int64_t before = frames->whole();
            const auto shape = frames->header().shape;
            const bool more = frames->refresh();
            require(frames->whole() >= before, "frames were lost");
            require(more == (frames->whole() > before), "refresh() returned another number");
            require(frames->header().shape == shape, "the shape changed");
            frames->take_remarks();
        }
        read_last(*frames);
        // The series may be opened again after five times the time that this took.
        std::this_thread::sleep_for(
            std::min<Clock::duration>(6 * (Clock::now() - begin), std::chrono::milliseconds(50)));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const sextant::test::TemporaryFolder root;
    const std::string folder = root.path("series");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/frames");
    sextant::test::GrowingScript script({reinterpret_cast<const char*>(bytes), size});
    const sextant::test::GrowingKind kind = script.kind();
    const std::string name = kind.folder
                                 ? folder + "/frames"
                                 : folder + "/" + std::string(kind.file) + std::string(kind.detail);
    try {
        follow(name, folder, script);
    } catch (const sextant::InvalidFile&) {
        return 0;
    }
    return 0;
}
