// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/scratch_file.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

/// Opens an unnamed file. If the file system does not support that, creates a file and unlinks it.
int open_nameless(const std::string& folder) {
#ifdef O_TMPFILE
    const int opened = open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (opened >= 0)
        return opened;
#endif
    std::string name = folder + "/.sextant-XXXXXX";
    const int made = mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0)
        unlink(name.c_str());
    return made;
}

} // namespace

ScratchFile::ScratchFile(std::string beside)
    : beside_(std::move(beside)), descriptor_(open_nameless(folder_of(beside_))) {
    if (descriptor_ < 0)
        fail(errno);
}

std::optional<ScratchFile> ScratchFile::open(std::string beside, const ScratchPlace& place) {
    if (place.process == 0)
        return std::nullopt;
    const std::string name = fmt::format("/proc/{}/fd/{}", place.process, place.descriptor);
    ScratchFile file(std::move(beside), ::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat found {};
    // In another container, the process ID may belong to another process.
    if (file.descriptor_ < 0 || fstat(file.descriptor_, &found) != 0 ||
        found.st_dev != place.device || found.st_ino != place.inode || found.st_size < place.bytes)
        return std::nullopt;
    return file;
}

ScratchPlace ScratchFile::place(Bytes bytes) const {
    struct stat own {};
    if (fstat(descriptor_, &own) != 0)
        return {};
    return {getpid(), descriptor_, own.st_dev, own.st_ino, bytes};
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : beside_(std::move(other.beside_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
    std::swap(beside_, other.beside_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

ScratchFile::~ScratchFile() {
    if (descriptor_ >= 0)
        close(descriptor_);
}

void ScratchFile::write(Bytes position, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written =
            pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(position));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            fail(written < 0 ? errno : ENOSPC); // no progress and no error: avoid an endless loop
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        position += written;
    }
}

void ScratchFile::read(Bytes position, std::span<std::byte> to) const {
    while (!to.empty()) {
        const ssize_t got = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(position));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail(got < 0 ? errno : EIO);
        to = to.subspan(static_cast<std::size_t>(got));
        position += got;
    }
}

void ScratchFile::clear() {
    if (ftruncate(descriptor_, 0) != 0)
        fail(errno);
}

void ScratchFile::fail(int error) const {
    throw InvalidFile(beside_, "a scratch file in the same folder cannot be used: " +
                                   std::generic_category().message(error));
}

} // namespace sextant
