// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/shared_file.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// Where Sextant's data may lie: the source it was built from, then where it is installed.
constexpr std::string_view data_folders = SEXTANT_DATA;

bool is_file(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

} // namespace

std::string shared_file(const std::string& given, std::string_view folder,
                        std::span<const std::string_view> endings) {
    if (is_file(given) || given.find('/') != std::string::npos)
        return given;
    std::string_view rest = data_folders;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(':'), rest.size());
        for (const std::string_view ending : endings) {
            const std::string path =
                fmt::format("{}/{}/{}{}", rest.substr(0, end), folder, given, ending);
            if (is_file(path))
                return path;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return given;
}

} // namespace sextant::operation
