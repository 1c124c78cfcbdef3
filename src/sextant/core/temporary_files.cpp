// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/temporary_files.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/journal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".sextant-", suffix = ".tmp";

// Static objects are never destroyed, because outputs may be written while the process ends.

/// Numbers that make temporary names unique among the threads of this process.
std::atomic<unsigned> next_number{0};

std::string hash_of(std::string_view text) {
    constexpr std::uint64_t bits = 0xffffffff;
    return fmt::format("{:08x}", checksum_of(std::as_bytes(std::span(text))) & bits);
}

/// Hashes of this host's boot ID and of its process namespace; empty if unknown.
struct RunningSystem {
    std::string boot, processes;
};

RunningSystem find_system() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    std::error_code unknown;
    const fs::path processes = fs::read_symlink("/proc/self/ns/pid", unknown);
    if (boot.empty() || unknown)
        return {};
    return {hash_of(boot), hash_of(processes.string())};
}

const RunningSystem& running_system() {
    static const RunningSystem& system = *new RunningSystem(find_system());
    return system;
}

/// The parts of a temporary's name that identify its owner.
struct Owner {
    std::string boot, processes;
    pid_t process = 0;
};

/// Returns the owner of a temporary; empty for other names, and for names without <system>.
std::optional<Owner> owner_of(std::string_view name) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
        name.size() < prefix.size() + suffix.size())
        return std::nullopt;
    name.remove_prefix(prefix.size());
    name.remove_suffix(suffix.size());
    std::array<std::string_view, 4> parts;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::size_t dash = name.find('-');
        if ((dash == std::string_view::npos) != (part + 1 == parts.size()))
            return std::nullopt;
        parts[part] = name.substr(0, dash);
        name.remove_prefix(std::min(name.size(), parts[part].size() + 1));
    }
    Owner owner{std::string(parts[0]), std::string(parts[1])};
    const auto [end, failed] =
        std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), owner.process);
    if (failed != std::errc() || end != parts[2].data() + parts[2].size() || owner.process <= 0)
        return std::nullopt;
    return owner;
}

/// The locks that this process holds, by path.
class Held {
  public:
    void add(const std::string& path, int descriptor) {
        const std::lock_guard lock(mutex_);
        descriptors_[path] = descriptor;
    }
    void remove(const std::string& path) {
        const std::lock_guard lock(mutex_);
        const auto found = descriptors_.find(path);
        if (found == descriptors_.end())
            return;
        close(found->second);
        descriptors_.erase(found);
    }
    static Held& here() {
        static Held& held = *new Held;
        return held;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> descriptors_;
};

int open_entry(const std::string& path) {
    return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/// True if flock() failed because the file system has no locks for this kind of file. The owner
/// then has no lock either.
bool has_no_locks(int error) {
    return error == EBADF || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

/// True if a temporary belongs to a process that has ended. An owner that has not taken its lock
/// yet notices in hold_temporary() that the temporary is gone.
bool is_abandoned(const Owner& owner, int descriptor) {
    const RunningSystem& here = running_system();
    if (owner.boot != here.boot)
        return false;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return true;
    return has_no_locks(errno) && owner.processes == here.processes &&
           kill(owner.process, 0) != 0 && errno == ESRCH;
}

/// True if this function has not been called with this folder before.
bool is_first_look(const std::string& folder) {
    static std::mutex mutex;
    static auto& seen = *new std::set<std::pair<dev_t, ino_t>>;
    struct stat found {};
    if (stat(folder.c_str(), &found) != 0)
        return false;
    const std::lock_guard lock(mutex);
    return seen.insert({found.st_dev, found.st_ino}).second;
}

} // namespace

std::string new_temporary_name(const std::string& folder) {
    const RunningSystem& system = running_system();
    const std::string of_system =
        system.boot.empty() ? "" : fmt::format("{}-{}-", system.boot, system.processes);
    return fmt::format("{}/{}{}{}-{}{}", folder, prefix, of_system, getpid(), next_number++,
                       suffix);
}

Hold hold_temporary(const std::string& path) {
    const int descriptor = open_entry(path);
    if (descriptor < 0 && errno == EACCES) // other processes cannot open it either
        return Hold::held;
    if (descriptor < 0)
        return errno == ENOENT ? Hold::removed : Hold::failed;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;
        close(descriptor);
        errno = error;
        return error == EWOULDBLOCK  ? Hold::removed
               : has_no_locks(error) ? Hold::held
                                     : Hold::failed;
    }
    struct stat own {
    }, there{};
    if (fstat(descriptor, &own) != 0 || lstat(path.c_str(), &there) != 0 ||
        own.st_ino != there.st_ino || own.st_dev != there.st_dev) {
        close(descriptor);
        return Hold::removed;
    }
    Held::here().add(path, descriptor);
    return Hold::held;
}

void release_temporary(const std::string& path) {
    Held::here().remove(path);
}

void remove_abandoned(const std::string& folder) {
    if (running_system().boot.empty() || is_in_temporary(folder + "/") || !is_first_look(folder))
        return;
    std::error_code unknown;
    for (fs::directory_iterator entry(folder, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        const std::optional<Owner> owner = owner_of(entry->path().filename().string());
        const int descriptor = owner ? open_entry(entry->path().string()) : -1;
        if (descriptor < 0)
            continue;
        std::error_code in_the_way; // ignored; for example, the file belongs to another user
        if (is_abandoned(*owner, descriptor))
            fs::remove_all(entry->path(), in_the_way);
        close(descriptor);
    }
}

bool is_in_temporary(const std::string& path) {
    for (fs::path folder = fs::path(path).parent_path(); folder.has_filename();
         folder = folder.parent_path()) {
        if (folder.filename().string().starts_with(prefix))
            return true;
    }
    return false;
}

PrivateFolder::PrivateFolder(std::string parent) {
    std::error_code unknown;
    if (parent.empty())
        parent = std::filesystem::temp_directory_path(unknown).string();
    if (parent.empty())
        parent = "/tmp";
    remove_abandoned(parent);
    for (Hold hold = Hold::removed; hold == Hold::removed;) {
        path_ = new_temporary_name(parent);
        hold = mkdir(path_.c_str(), 0700) == 0 ? hold_temporary(path_) : Hold::failed;
        if (hold == Hold::failed)
            throw InvalidFile(parent, "a folder cannot be created: " +
                                          std::generic_category().message(errno));
    }
}

PrivateFolder::~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    release_temporary(path_);
}

} // namespace sextant
