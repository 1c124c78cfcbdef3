// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;
constexpr int attempts = 1000;
constexpr const char* own_descriptors = "/proc/self/fd";

/// Makes temporary names unique among the threads of this process.
std::atomic<unsigned> next_number{0};

} // namespace

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(path_) {
    buffer_.reserve(buffer_size);
    std::error_code unresolved; // a dangling link: the link itself is replaced
    if (std::filesystem::is_symlink(path_, unresolved)) {
        const auto resolved = std::filesystem::canonical(path_, unresolved);
        if (!unresolved)
            target_ = resolved.string();
    }
    struct stat there {};
    const bool exists = stat(target_.c_str(), &there) == 0;
    if (exists && S_ISDIR(there.st_mode))
        fail("the path is a folder");
    if (exists && access(target_.c_str(), W_OK) != 0)
        fail(errno);
    if (exists && !S_ISREG(there.st_mode)) {
        open_device();
    } else {
        if (!open_nameless())
            open_temporary();
        // Best effort: some file systems have no permission bits.
        if (exists)
            (void)!fchmod(descriptor_, there.st_mode & 07777);
    }
}

/// Waits at most two seconds for a pipe to get a reader.
void AtomicFile::open_device() {
    constexpr int tries = 100;
    constexpr std::chrono::milliseconds pause{20};
    for (int attempt = 0; attempt < tries; ++attempt) {
        descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor_ >= 0 || errno != ENXIO)
            break;
        std::this_thread::sleep_for(pause);
    }
    if (descriptor_ < 0 && errno == ENXIO)
        fail("the path is a pipe without a reader");
    if (descriptor_ < 0)
        fail(errno);
    const int flags = fcntl(descriptor_, F_GETFL);
    if (flags < 0 || fcntl(descriptor_, F_SETFL, flags & ~O_NONBLOCK) != 0)
        fail(errno);
}

/// Returns true if an unnamed file was opened. If not, the caller tries a named one.
bool AtomicFile::open_nameless() {
#ifdef O_TMPFILE
    if (access(own_descriptors, X_OK) != 0)
        return false; // without /proc, an unnamed file could not be named later
    descriptor_ = open(folder_of(target_).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
#endif
    nameless_ = descriptor_ >= 0;
    return nameless_;
}

void AtomicFile::with_temporary_name(const std::function<bool(const char* name)>& create) {
    const std::string folder = folder_of(target_);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        // The temporary name does not contain the target's name, because it could then be too long.
        temporary_ = fmt::format("{}/.sextant-{}-{}.tmp", folder, getpid(), next_number++);
        if (create(temporary_.c_str()))
            return;
        if (errno != EEXIST)
            break;
    }
    const int error = errno;
    temporary_.clear();
    std::error_code unknown;
    if (error == ENOENT && !std::filesystem::exists(folder, unknown))
        fail(fmt::format("the folder {} does not exist", folder));
    fail(error);
}

void AtomicFile::open_temporary() {
    with_temporary_name([&](const char* name) {
        descriptor_ = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return descriptor_ >= 0;
    });
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0)
        close(descriptor_);
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > buffer_size)
        flush();
    if (bytes.size() >= buffer_size)
        write_through(bytes);
    else
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    position_ += static_cast<Bytes>(bytes.size());
}

void AtomicFile::write(std::string_view bytes) {
    write(std::as_bytes(std::span(bytes)));
}

void AtomicFile::write_through(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail(errno);
        if (written == 0)
            fail(ENOSPC); // no progress and no error: avoid an endless loop
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::flush() {
    write_through(buffer_);
    buffer_.clear();
}

void AtomicFile::seek(Bytes position) {
    flush();
    if (lseek(descriptor_, static_cast<off_t>(position), SEEK_SET) < 0) {
        if (errno == ESPIPE)
            fail("the path is a pipe, expected a file, because its parts are not written in order");
        fail(errno);
    }
    position_ = position;
}

Bytes AtomicFile::read_at(Bytes position, std::span<std::byte> to) {
    flush();
    const ssize_t got = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(position));
    if (got < 0)
        fail(errno);
    return static_cast<Bytes>(got);
}

void AtomicFile::require_intact() const {
    if (!failure_.empty())
        throw InvalidFile(path_, failure_);
}

void AtomicFile::commit() {
    require_intact();
    flush();
    if (std::exchange(nameless_, false)) {
        const std::string own = fmt::format("{}/{}", own_descriptors, descriptor_);
        with_temporary_name([&](const char* name) {
            return linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
        });
    }
    // Network file systems report a full disk only here. The descriptor is closed either way.
    if (close(std::exchange(descriptor_, -1)) != 0)
        fail(errno);
    if (temporary_.empty())
        return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
        fail(errno);
    temporary_.clear();
}

void AtomicFile::fail(int error) {
    fail(std::generic_category().message(error));
}

void AtomicFile::fail(const std::string& reason) {
    failure_ = "cannot be written: " + reason;
    throw InvalidFile(path_, failure_);
}

void require_writable(const std::string& path) {
    struct stat there {};
    const bool device =
        stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
    if (!device)
        AtomicFile{path};
    else if (access(path.c_str(), W_OK) != 0)
        throw InvalidFile(path, "cannot be written: " + std::generic_category().message(errno));
}

void write_file(const std::string& path, std::string_view bytes) {
    AtomicFile file(path);
    file.write(bytes);
    file.commit();
}

namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
    return std::generic_category().message(error);
}

/// Best effort: an error is already being reported.
void remove(const std::string& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

} // namespace

AtomicFolder::AtomicFolder(const std::string& path, std::span<const std::string_view> entries)
    : path_(path), target_(path) {
    find_target();
    require_replaceable(entries);
    temporary_ = new_name(true);
}

AtomicFolder::AtomicFolder(const std::string& path, std::span<const std::string_view> entries,
                           std::string existing)
    : path_(path), target_(path), temporary_(std::move(existing)), remains_(true) {
    find_target();
    require_replaceable(entries);
}

void AtomicFolder::find_target() {
    while (target_.size() > 1 && target_.ends_with('/'))
        target_.pop_back();
    std::error_code unresolved; // a dangling link: the link itself is replaced
    if (fs::is_symlink(target_, unresolved)) {
        const auto resolved = fs::canonical(target_, unresolved);
        if (!unresolved)
            target_ = resolved.string();
    }
}

AtomicFolder::~AtomicFolder() {
    if (!temporary_.empty() && !remains_)
        remove(temporary_);
}

void AtomicFolder::require_replaceable(std::span<const std::string_view> entries) const {
    std::error_code error;
    const fs::file_status there = fs::symlink_status(target_, error);
    if (there.type() == fs::file_type::none)
        fail(error.message());
    if (!fs::exists(there) || fs::is_symlink(there))
        return;
    if (!fs::is_directory(there))
        fail("the path is a file, expected a folder or an unused name");
    fs::directory_iterator entry(target_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (std::find(entries.begin(), entries.end(), name) == entries.end())
            fail(fmt::format("the existing folder holds '{}', which would be lost", name));
    }
    if (error)
        fail(error.message());
}

/// Returns an unused name next to the target; creates a folder of that name if `make`.
std::string AtomicFolder::new_name(bool make) const {
    const std::string around = folder_of(target_);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::string name = fmt::format("{}/.sextant-{}-{}.tmp", around, getpid(), next_number++);
        if (make && mkdir(name.c_str(), 0777) == 0)
            return name;
        if (!make && access(name.c_str(), F_OK) != 0)
            return name;
        if (make && errno == ENOENT)
            fail(fmt::format("the folder {} does not exist", around));
        if (make && errno != EEXIST)
            fail(reason(errno));
    }
    fail(reason(EEXIST));
}

/// Exchanges the folder with an existing one. Where the file system cannot, the existing folder is
/// moved aside first, and moved back if the new one cannot be renamed.
void AtomicFolder::commit() {
    std::error_code unknown;
    const bool replaces = fs::is_directory(fs::symlink_status(target_, unknown));
    if (replaces &&
        renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
        remove(temporary_);
        temporary_.clear();
        return;
    }
    std::string old;
    if (replaces) {
        old = new_name(false);
        if (std::rename(target_.c_str(), old.c_str()) != 0)
            fail(reason(errno));
    }
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        const int error = errno;
        if (!old.empty())
            (void)!std::rename(old.c_str(), target_.c_str());
        fail(reason(error));
    }
    temporary_.clear();
    if (!old.empty())
        remove(old);
}

void AtomicFolder::fail(const std::string& reason) const {
    throw InvalidFile(path_, "cannot be written: " + reason);
}

} // namespace sextant
