// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/shared_file.hpp"

#include "sextant/core/names.hpp"
#include "sextant/machine/installation.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::machine {

namespace {

namespace filesystem = std::filesystem;

std::vector<filesystem::path> files_of(const SharedFolder& folder) {
    std::vector<filesystem::path> files;
    for (const filesystem::path& data : installation().data) {
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

std::string searched(std::span<const SharedFolder> folders) {
    std::vector<std::string> all;
    for (const SharedFolder& folder : folders) {
        for (const filesystem::path& data : installation().data)
            all.push_back(data / folder.path);
    }
    return fmt::format("{}", fmt::join(all, " or "));
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
    if (names.empty())
        throw InvalidTask(
            fmt::format("unknown {} '{}'; there is none in {}", kinds, given, searched(folders)));
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw InvalidTask(unknown_name(kinds, given, views));
}

std::string shared_file(const SharedFolder& folder, const std::string& given) {
    return shared_file(std::span(&folder, 1), given);
}

} // namespace sextant::machine
