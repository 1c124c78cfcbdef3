// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/source_file.hpp"

#include "sextant/core/error.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sextant::format {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
    throw InvalidFile(path, "cannot be read: " + std::generic_category().message(error));
}

} // namespace

SourceFile::SourceFile(std::string path) : path_(std::move(path)) {
    struct stat there {};
    if (stat(path_.c_str(), &there) != 0) {
        if (errno == ENOENT)
            throw InvalidFile(path_, "no such file");
        fail(path_, errno);
    }
    if (S_ISDIR(there.st_mode))
        throw InvalidFile(path_, "is a folder, expected a file");
    if (!S_ISREG(there.st_mode))
        throw InvalidFile(path_, "is not a regular file");
    handle_.reset(std::fopen(path_.c_str(), "rbe"));
    if (!handle_)
        fail(path_, errno);
    size_ = static_cast<Bytes>(there.st_size);
}

Bytes SourceFile::read(std::span<std::byte> to) {
    const std::size_t got = std::fread(to.data(), 1, to.size(), handle());
    if (got < to.size() && std::ferror(handle()))
        fail(path_, errno);
    return static_cast<Bytes>(got);
}

Bytes SourceFile::read_at(Bytes position, std::span<std::byte> to) const {
    std::size_t got = 0;
    while (got < to.size()) {
        const ssize_t came = pread(fileno(handle_.get()), to.data() + got, to.size() - got,
                                   static_cast<off_t>(position) + static_cast<off_t>(got));
        if (came < 0 && errno == EINTR)
            continue;
        if (came < 0)
            fail(path_, errno);
        if (came == 0)
            break;
        got += static_cast<std::size_t>(came);
    }
    return static_cast<Bytes>(got);
}

void SourceFile::skip(Bytes bytes) {
    if (fseeko(handle(), static_cast<off_t>(bytes), SEEK_CUR) != 0)
        fail(path_, errno);
}

} // namespace sextant::format
