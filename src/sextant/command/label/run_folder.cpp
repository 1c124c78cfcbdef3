// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/label/run_folder.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/journal.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant::command {

namespace {

namespace fs = std::filesystem;

std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return path;
}

std::string partial_of(const std::string& output) {
    return without_slashes(output) + ".partial";
}

constexpr std::string_view failure_mark = "failed"; ///< file name of the mark

/// Returns true for the names of checkpoints ("labels.0"), lists of planes ("written.0") and the
/// store.
bool is_of_run(std::string_view name) {
    if (name == "labels.zarr" || name == failure_mark)
        return true;
    constexpr std::array<std::string_view, 3> stems{"labels.", "holes.", "written."};
    const auto* const stem =
        std::ranges::find_if(stems, [&](std::string_view each) { return name.starts_with(each); });
    if (stem == stems.end())
        return false;
    name.remove_prefix(stem->size());
    return !name.empty() &&
           std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

} // namespace

RunFolder::RunFolder(const std::string& output) : path_(partial_of(output)) {}

RunFolder::~RunFolder() {
    if (descriptor_ < 0)
        return;
    rmdir(path_.c_str()); // fails if the folder is not empty
    close(descriptor_);
}

void RunFolder::hold(bool create) {
    if (descriptor_ >= 0)
        return;
    constexpr int attempts = 100; // the run that holds the folder can remove it at any time
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::error_code failed;
        const fs::file_status there = fs::symlink_status(path_, failed);
        if (!fs::exists(there)) {
            if (!create)
                return;
            fs::create_directory(path_, failed);
            if (failed)
                throw InvalidFile(path_, "cannot be created: " + failed.message());
        } else if (!fs::is_directory(there)) {
            throw InvalidFile(
                path_,
                "is not a folder, expected the folder of an interrupted run, or an unused name");
        }
        if (!lock())
            continue;
        require_own_files();
        return;
    }
    throw InvalidFile(path_, "is in use by another run");
}

/// Locks the folder. Returns false if the folder was removed before it was locked. On file systems
/// without locks, the folder is used without a lock.
bool RunFolder::lock() {
    const int descriptor = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT)
        return false;
    if (descriptor < 0)
        throw InvalidFile(path_, "cannot be read: " + std::generic_category().message(errno));
    const bool used = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat locked {
    }, there{};
    const bool same = fstat(descriptor, &locked) == 0 && stat(path_.c_str(), &there) == 0 &&
                      locked.st_ino == there.st_ino && locked.st_dev == there.st_dev;
    if (used || !same)
        close(descriptor);
    else
        descriptor_ = descriptor;
    if (used)
        throw InvalidFile(path_, "is in use by another run");
    return same;
}

void RunFolder::require_own_files() const {
    std::error_code failed;
    fs::directory_iterator entry(path_, failed);
    for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if (!is_of_run(name))
            throw InvalidFile(path_, fmt::format("holds '{}', which does not belong to an "
                                                 "interrupted run and would be lost",
                                                 name));
    }
    if (failed)
        throw InvalidFile(path_, "cannot be read: " + failed.message());
}

bool RunFolder::has_results() const {
    std::error_code unknown;
    return fs::is_directory(path_, unknown) && !fs::is_empty(path_, unknown) && !unknown;
}

void RunFolder::remove() const {
    std::error_code unknown;
    if (descriptor_ >= 0)
        fs::remove_all(path_, unknown);
}

void RunFolder::mark_failed() const {
    if (descriptor_ >= 0)
        std::ofstream(fs::path(path_) / failure_mark, std::ios::app);
}

void RunFolder::remove_mark() const {
    std::error_code unknown;
    if (descriptor_ >= 0)
        fs::remove(fs::path(path_) / failure_mark, unknown);
}

bool RunFolder::remove_failed(const std::string& line) const {
    std::error_code unknown;
    if (descriptor_ < 0 || !fs::exists(fs::path(path_) / failure_mark, unknown))
        return false;
    std::vector<fs::path> entries;
    bool others = false;
    for (const auto& entry : fs::directory_iterator(path_, unknown)) {
        const std::string name = entry.path().filename().string();
        entries.push_back(entry.path());
        if (entry.is_directory(unknown) || name.starts_with("written.") || name == failure_mark)
            continue;
        const Journal checkpoint = Journal::open(entry.path().string());
        others =
            others || (checkpoint.text() && checkpoint.text()->find(line) == std::string::npos);
    }
    for (const fs::path& entry : entries) {
        if (others)
            fs::remove_all(entry, unknown);
    }
    return others;
}

void InputState::add(const std::string& path, const std::string& output) {
    const auto add_file = [&](const std::string& file) {
        struct stat state {};
        if (stat(file.c_str(), &state) != 0 || !S_ISREG(state.st_mode))
            return;
        ++files;
        bytes += state.st_size;
        const std::string text = fmt::format("{} {} {} {}", file, state.st_size,
                                             state.st_mtim.tv_sec, state.st_mtim.tv_nsec);
        digest += checksum_of(std::as_bytes(std::span(text)));
    };
    std::error_code unknown;
    if (!fs::is_directory(path, unknown))
        return add_file(path);
    const auto is_output = [&](const fs::path& entry) {
        std::error_code missing;
        return fs::equivalent(entry, without_slashes(output), missing) ||
               fs::equivalent(entry, partial_of(output), missing);
    };
    fs::recursive_directory_iterator entry(path, unknown), end;
    for (; !unknown && entry != end; entry.increment(unknown)) {
        std::error_code missing;
        if (!entry->is_directory(missing))
            add_file(entry->path().string());
        else if (is_output(entry->path()))
            entry.disable_recursion_pending();
    }
}

} // namespace sextant::command
