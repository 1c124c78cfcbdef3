// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace sextant::machine {

/// What kind of data Sextant ships: the folder it lies in, and the endings of its files.
struct SharedFolder {
    std::string_view kind; ///< "platform"
    std::string_view path; ///< "platforms"
    std::span<const std::string_view> endings;
};

inline constexpr std::array<std::string_view, 1> profile_endings{".json"};

/// The profiles that Sextant ships.
inline constexpr SharedFolder machines{"machine", "machines", profile_endings};

/// The path of a file that a user gives, or names without folder and ending as one of those that
/// Sextant ships. Throws InvalidTask with near names where it is neither; a path of several folders
/// stays as it was given, for whoever reads it to refuse.
std::string shared_file(const SharedFolder& folder, const std::string& given);
/// The same of several folders, the first of which that has it counts.
std::string shared_file(std::span<const SharedFolder> folders, const std::string& given);

} // namespace sextant::machine
