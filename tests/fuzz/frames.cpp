// SPDX-License-Identifier: BSD-3-Clause
// Reads arbitrary bytes as a file of frames. The format is chosen by an extension, which is set at
// compile time.
#include "sextant/core/error.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

/// A file in memory that has a path.
class MemoryFile {
  public:
    MemoryFile(const std::uint8_t* bytes, std::size_t size)
        : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
        if (descriptor_ < 0 || write(descriptor_, bytes, size) != static_cast<ssize_t>(size))
            throw std::runtime_error("no file in memory");
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(descriptor_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

void read_some(sextant::FrameSource& source) {
    const sextant::FrameHeader& header = source.header();
    constexpr sextant::Elements most = 1 << 20;
    if (header.frames < 1 || header.shape.elements() < 1)
        throw std::logic_error("a source without frames");
    const std::int64_t rows = std::min(header.shape.height, most / header.shape.width);
    std::vector<float> values(static_cast<std::size_t>(rows * header.shape.width));
    for (std::int64_t frame = 0; frame < std::min<std::int64_t>(header.frames, 3); ++frame) {
        try {
            source.read_rows(frame, {0, rows}, values);
            source.read_rows(frame, {header.shape.height - rows, header.shape.height}, values);
        } catch (const sextant::InvalidFile&) {
            continue; // the next frame may be readable
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const MemoryFile file(bytes, size);
    const auto* const format = sextant::format::find_frame_format("fuzz" SEXTANT_FUZZ_EXTENSION);
    try {
        read_some(*format->open(file.path(), SEXTANT_FUZZ_DETAIL, {}));
    } catch (const sextant::InvalidFile&) {
        return 0;
    }
    return 0;
}
