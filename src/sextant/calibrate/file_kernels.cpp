// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/file_kernels.hpp"

#include "sextant/core/memory.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace sextant::calibrate {

namespace {

/// A file without a name, gone when it is closed.
class ScratchFile {
  public:
    ScratchFile() : file_(std::tmpfile()) {
        if (!file_)
            fail("no temporary file to time");
    }

    void write_anew(std::span<const std::byte> bytes) {
        if (ftruncate(descriptor(), 0) != 0)
            fail("a temporary file cannot be emptied");
        go_through(bytes.size(), "written to", [&](std::size_t at) {
            return pwrite(descriptor(), bytes.data() + at, bytes.size() - at,
                          static_cast<off_t>(at));
        });
    }

    void read(std::span<std::byte> bytes) {
        go_through(bytes.size(), "read", [&](std::size_t at) {
            return pread(descriptor(), bytes.data() + at, bytes.size() - at,
                         static_cast<off_t>(at));
        });
    }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    int descriptor() const { return fileno(file_.get()); }

    [[noreturn]] static void fail(const char* what) {
        throw std::system_error(errno, std::generic_category(), what);
    }

    template <class Move>
    static void go_through(std::size_t size, const char* how, Move&& move) {
        for (std::size_t done = 0; done < size;) {
            const ssize_t moved = move(done);
            if (moved <= 0)
                fail((std::string("a temporary file cannot be ") + how).c_str());
            done += static_cast<std::size_t>(moved);
        }
    }

    std::unique_ptr<std::FILE, Close> file_;
};

std::span<std::byte> bytes_of(const Computation& computation) {
    const Blocks& place = computation.places[0];
    return {place.base, static_cast<std::size_t>(place.bytes())};
}

/// A step's bytes in memory are those that it moves, whichever way.
Timed timed_file(const Cell& cell, Kernel kernel) {
    Operator bytes;
    bytes.element = {"byte", 1};
    ProgramBuilder builder;
    const Region moved = builder.in_out(cell.elements);
    builder.compute(0, {}, {moved});
    return {{builder.finish({})}, bytes, 1, {}, {std::move(kernel)}};
}

} // namespace

Timed timed_reading(const Cell& cell) {
    const auto file = std::make_shared<ScratchFile>();
    file->write_anew(std::vector<std::byte>(static_cast<std::size_t>(cell.elements)));
    return timed_file(cell, [file](const Computation& computation) {
        // As an image is read: into memory that nobody has touched, which costs more than reading.
        Memory fresh(computation.made[0].elements());
        file->read(fresh.bytes());
        std::ranges::copy(fresh.bytes().first(1), bytes_of(computation).begin());
    });
}

Timed timed_writing(const Cell& cell) {
    const auto file = std::make_shared<ScratchFile>();
    return timed_file(
        cell, [file](const Computation& computation) { file->write_anew(bytes_of(computation)); });
}

} // namespace sextant::calibrate
