// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/private_folder.hpp"

#include "sextant/core/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sextant {

PrivateFolder::PrivateFolder(std::string parent) : path_(std::move(parent)) {
    std::error_code unknown;
    if (path_.empty())
        path_ = std::filesystem::temp_directory_path(unknown).string();
    if (path_.empty())
        path_ = "/tmp";
    const std::string folder = path_;
    path_ += "/.sextant-XXXXXX";
    if (!mkdtemp(path_.data()))
        throw InvalidFile(folder,
                          "a folder cannot be created: " + std::generic_category().message(errno));
}

PrivateFolder::~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace sextant
