// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/shared_file.hpp"

#include "sextant/core/names.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

namespace sextant::machine {

namespace {

namespace filesystem = std::filesystem;

/// Where Sextant's data may lie: the source it was built from, then where it is installed.
std::vector<filesystem::path> data_folders() {
    return {SEXTANT_SOURCE_DATA, SEXTANT_INSTALLED_DATA};
}

std::vector<filesystem::path> files_of(const SharedFolder& folder) {
    std::vector<filesystem::path> files;
    for (const filesystem::path& data : data_folders()) {
        std::error_code error;
        for (const auto& entry : filesystem::directory_iterator(data / folder.path, error)) {
            const std::string ending = entry.path().extension();
            if (std::find(folder.endings.begin(), folder.endings.end(), ending) !=
                folder.endings.end())
                files.push_back(entry.path());
        }
    }
    return files;
}

} // namespace

std::string shared_file(std::span<const SharedFolder> folders, const std::string& given) {
    std::error_code error;
    if (filesystem::exists(given, error) || given.find('/') != std::string::npos)
        return given;
    std::string kinds;
    std::set<std::string> names;
    for (const SharedFolder& folder : folders) {
        for (const filesystem::path& file : files_of(folder)) {
            if (file.stem() == given || file.filename() == given)
                return file;
            names.insert(file.stem());
        }
        kinds += (kinds.empty() ? "" : " or ") + std::string(folder.kind);
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw InvalidTask(unknown_name(kinds, given, views));
}

std::string shared_file(const SharedFolder& folder, const std::string& given) {
    return shared_file(std::span(&folder, 1), given);
}

} // namespace sextant::machine
