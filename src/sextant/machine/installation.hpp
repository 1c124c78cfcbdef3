// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::machine {

/// The folders in which what Sextant ships may be, the first to be searched first: relative to the
/// program or shared library that contains this function, then where it was configured to be
/// installed. A program of the build tree takes only what is in its source and build tree.
struct Installation {
    std::vector<std::filesystem::path> data;     ///< machines/, platforms/, data/
    std::vector<std::filesystem::path> programs; ///< that Sextant starts itself
};

Installation installation();

/// The same for a program or shared library at this path.
Installation installation_of(const std::filesystem::path& module);

/// Where a user's profile of this machine lies, for one transport ("threads" or "mpi"):
/// sextant/machines/TRANSPORT.json in $XDG_CONFIG_HOME, or in ~/.config where that is not set to
/// an absolute path. Empty where neither is known. The folder need not exist.
std::string default_profile_path(std::string_view transport);

/// Where what was probed of this machine is kept: sextant/probes in $XDG_CACHE_HOME, or in
/// ~/.cache; likewise.
std::string probe_folder();

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
