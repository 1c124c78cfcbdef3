// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/private_folder.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/temporary_names.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace sextant {

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
