// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/text_file.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

/// An open file that is closed with its scope.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0)
            close(number);
    }
};

[[noreturn]] void fail(const std::string& path, int error) {
    if (error == ENOENT)
        throw InvalidFile(path, "does not exist");
    throw InvalidFile(path, "cannot be read: " + std::generic_category().message(error));
}

} // namespace

std::string read_text(const std::string& path, Bytes most) {
    // Without waiting, so that a pipe with no writer is found to be one.
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat there {};
    if (file.number < 0 || fstat(file.number, &there) != 0)
        fail(path, errno);
    if (S_ISDIR(there.st_mode))
        throw InvalidFile(path, "is a folder, expected a file");
    if (!S_ISREG(there.st_mode))
        throw InvalidFile(path, "is not a regular file");
    if (there.st_size > most)
        throw InvalidFile(path, fmt::format("has {} bytes, expected at most {}",
                                            static_cast<Bytes>(there.st_size), most));
    std::string text;
    for (std::size_t got = 0;;) { // the file may grow, and some state no size
        constexpr std::size_t least_room = 4096;
        text.resize(std::max(static_cast<std::size_t>(there.st_size), got) + least_room);
        const ssize_t came = read(file.number, text.data() + got, text.size() - got);
        if (came < 0 && errno == EINTR)
            continue;
        if (came < 0)
            fail(path, errno);
        got += static_cast<std::size_t>(came);
        if (static_cast<Bytes>(got) > most)
            throw InvalidFile(path, fmt::format("has more than {} bytes", most));
        if (came == 0) {
            text.resize(got);
            return text;
        }
    }
}

} // namespace sextant
