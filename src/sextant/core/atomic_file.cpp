// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/temporary_files.hpp"

#include <algorithm>
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

/// The outputs of this thread that wait for JointCommit::commit(); null: outputs appear at once.
thread_local std::vector<std::function<void(bool)>>* waiting = nullptr;

void remove_all(const std::string& path) {
    std::error_code ignored; // best effort: an error is already being reported
    std::filesystem::remove_all(path, ignored);
    release_temporary(path);
}

[[noreturn]] void fail_to_write(const std::string& path, const std::string& reason) {
    throw InvalidFile(path, "cannot be written: " + reason);
}

} // namespace

JointCommit::JointCommit() {
    if (!waiting) // otherwise the outer object commits all outputs
        waiting = &outputs_;
}

JointCommit::~JointCommit() {
    if (waiting == &outputs_)
        waiting = nullptr;
    for (const auto& end : outputs_)
        end(false);
}

void JointCommit::commit() {
    if (waiting == &outputs_)
        waiting = nullptr;
    for (; !outputs_.empty(); outputs_.erase(outputs_.begin()))
        outputs_.front()(true);
}

std::string target_of(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code unresolved;
    if (!fs::is_symlink(path, unresolved))
        return path;
    const auto resolved = fs::canonical(path, unresolved);
    if (!unresolved)
        return resolved.string();
    std::error_code unknown;
    if (fs::exists(path, unknown))
        return path; // a link that opens but cannot be resolved, such as a pipe in /proc
    constexpr int most_links = 40; // the limit of the system
    fs::path target = path;
    for (int links = 0; fs::is_symlink(target, unknown); ++links) {
        const fs::path next = fs::read_symlink(target, unknown);
        if (unknown || links == most_links)
            return path;
        target = target.parent_path() / next;
    }
    return target.string();
}

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

AtomicFile::AtomicFile(std::string path) : AtomicFile(std::move(path), Links::followed) {}

AtomicFile::AtomicFile(std::string path, Links links) : path_(std::move(path)), target_(path_) {
    buffer_.reserve(buffer_size);
    std::error_code unknown;
    if (links == Links::followed)
        target_ = target_of(path_);
    struct stat there {};
    const bool replaces_link =
        links == Links::replaced && std::filesystem::is_symlink(path_, unknown);
    const bool exists = !replaces_link && stat(target_.c_str(), &there) == 0;
    if (!exists && !replaces_link && errno == ELOOP)
        fail(errno);
    if (exists && S_ISDIR(there.st_mode))
        fail("the path is a folder");
    if (exists && access(target_.c_str(), W_OK) != 0)
        fail(errno);
    if (exists && !S_ISREG(there.st_mode)) {
        open_device();
    } else {
        remove_abandoned(folder_of(target_));
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
        temporary_ = new_temporary_name(folder);
        if (create(temporary_.c_str())) {
            const Hold hold = is_in_temporary(temporary_) ? Hold::held : hold_temporary(temporary_);
            if (hold == Hold::held)
                return;
            if (hold == Hold::failed)
                fail(errno);
            continue; // another process removed it before it was locked
        }
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
    if (temporary_.empty())
        return;
    unlink(temporary_.c_str());
    release_temporary(temporary_);
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
            fail("the path is a pipe, expected a file, because its parts are written out of order");
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
    const bool waits = waiting && !temporary_.empty() && !is_in_temporary(target_);
    if (waits && fdatasync(descriptor_) != 0)
        fail(errno);
    // Network file systems report a full disk only here. The descriptor is closed either way.
    if (close(std::exchange(descriptor_, -1)) != 0)
        fail(errno);
    if (temporary_.empty())
        return;
    const auto end = [path = path_, from = temporary_, to = target_](bool appear) {
        if (!appear)
            return remove_all(from);
        if (std::rename(from.c_str(), to.c_str()) != 0)
            fail_to_write(path, std::generic_category().message(errno));
        release_temporary(from);
    };
    if (waits)
        waiting->push_back(end);
    else
        end(true);
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

void write_file(const std::string& path, std::string_view bytes, AtomicFile::Links links) {
    AtomicFile file(path, links);
    file.write(bytes);
    file.commit();
}

namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
    return std::generic_category().message(error);
}

/// Exchanges a folder with an existing one. If the file system does not support this, the existing
/// folder is first moved aside, under a name that no other process removes, and moved back if the
/// new folder cannot be renamed.
void replace_folder(const std::string& path, const std::string& temporary,
                    const std::string& target) {
    std::error_code unknown;
    const bool replaces = fs::is_directory(fs::symlink_status(target, unknown));
    if (replaces &&
        renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
        return remove_all(temporary);
    std::string old;
    if (replaces) {
        old = new_temporary_name(folder_of(target)) + ".old";
        if (std::rename(target.c_str(), old.c_str()) != 0)
            fail_to_write(path, reason(errno));
    }
    if (std::rename(temporary.c_str(), target.c_str()) != 0) {
        const int error = errno;
        if (!old.empty())
            (void)!std::rename(old.c_str(), target.c_str());
        fail_to_write(path, reason(error));
    }
    release_temporary(temporary);
    if (!old.empty())
        remove_all(old);
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
    target_ = target_of(target_);
}

AtomicFolder::~AtomicFolder() {
    if (!temporary_.empty() && !remains_)
        remove_all(temporary_);
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
    if (make)
        remove_abandoned(around);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::string name = new_temporary_name(around);
        if (make && mkdir(name.c_str(), 0777) == 0) {
            const Hold hold = is_in_temporary(name) ? Hold::held : hold_temporary(name);
            if (hold == Hold::held)
                return name;
            if (hold == Hold::failed)
                fail(reason(errno));
            continue; // another process removed it before it was locked
        }
        if (!make && access(name.c_str(), F_OK) != 0)
            return name;
        if (make && errno == ENOENT)
            fail(fmt::format("the folder {} does not exist", around));
        if (make && errno != EEXIST)
            fail(reason(errno));
    }
    fail(reason(EEXIST));
}

void AtomicFolder::commit() {
    const auto end = [path = path_, from = temporary_, to = target_,
                      remains = remains_](bool appear) {
        if (appear)
            replace_folder(path, from, to);
        else if (!remains)
            remove_all(from);
    };
    if (waiting)
        waiting->push_back(end);
    else
        end(true);
    temporary_.clear();
}

void AtomicFolder::fail(const std::string& reason) const {
    fail_to_write(path_, reason);
}

} // namespace sextant
