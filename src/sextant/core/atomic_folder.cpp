// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_folder.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

namespace fs = std::filesystem;

constexpr int attempts = 1000;

/// Distinguishes the temporary folders of the threads of this process.
std::atomic<unsigned> next_number{0};

std::string reason(int error) {
    return std::generic_category().message(error);
}

/// Best effort, where an error is already on its way.
void remove(const std::string& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

} // namespace

AtomicFolder::AtomicFolder(const std::string& path, std::span<const std::string_view> entries)
    : path_(path), target_(path) {
    while (target_.size() > 1 && target_.ends_with('/'))
        target_.pop_back();
    std::error_code unresolved; // a link to nothing: it is the link that is replaced
    if (fs::is_symlink(target_, unresolved)) {
        const auto resolved = fs::canonical(target_, unresolved);
        if (!unresolved)
            target_ = resolved.string();
    }
    require_replaceable(entries);
    temporary_ = new_name(true);
}

AtomicFolder::~AtomicFolder() {
    if (!temporary_.empty())
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
        fail("it is a file, expected a folder or nothing");
    fs::directory_iterator entry(target_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (std::find(entries.begin(), entries.end(), name) == entries.end())
            fail(
                fmt::format("the folder that is there also holds '{}', which would be lost", name));
    }
    if (error)
        fail(error.message());
}

/// A name that is free beside the target; made a folder where asked.
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

/// What is there goes aside first, and comes back if the new one cannot take its place.
void AtomicFolder::commit() {
    std::string old;
    std::error_code unknown;
    if (fs::is_directory(fs::symlink_status(target_, unknown))) {
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
