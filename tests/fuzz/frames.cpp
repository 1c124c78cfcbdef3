// SPDX-License-Identifier: BSD-3-Clause
// Reads arbitrary bytes as a file of frames. The format is chosen by an extension, which is set at
// compile time.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/fuzz/read_some.hpp"
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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const MemoryFile file(bytes, size);
    const auto* const format = sextant::format::find_frame_format("fuzz" SEXTANT_FUZZ_EXTENSION);
    try {
        sextant::test::read_some(*format->open(file.path(), {.detail = SEXTANT_FUZZ_DETAIL}));
    } catch (const sextant::InvalidFile&) {
        return 0;
    }
    return 0;
}
