// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::machine {

/// Folders that may hold the files shipped with Sextant, in search order: relative to the program
/// or shared library that contains this code, then the configured installation folders. A program
/// in the build tree uses only its source and build trees.
struct Installation {
    /// Folders that contain machines/, platforms/ and data/.
    std::vector<std::filesystem::path> data;
    /// Folders of programs that Sextant starts.
    std::vector<std::filesystem::path> programs;
};

Installation installation();

/// Returns the folders for the program or shared library at `module`.
Installation installation_of(const std::filesystem::path& module);

/// The path of the user's profile of this machine for one transport ("threads" or "mpi"):
/// sextant/machines/TRANSPORT.json in $XDG_CONFIG_HOME, or in ~/.config if that is not set to an
/// absolute path. Empty if neither is known. The folder need not exist.
std::string default_profile_path(std::string_view transport);

/// The folder that caches probe results of this machine: sextant/probes in $XDG_CACHE_HOME, or in
/// ~/.cache if that is not set to an absolute path. Empty if neither is known.
std::string probe_folder();

/// One kind of data shipped with Sextant: its folder and file name endings. Files that only the
/// program sextant-papers uses are in a folder of the same name in papers/.
struct SharedFolder {
    std::string_view kind; ///< for example "platform"
    std::string_view path; ///< folder, for example "platforms"
    std::span<const std::string_view> endings;
};

inline constexpr std::array<std::string_view, 1> profile_endings{".json"};

/// Machine profiles.
inline constexpr SharedFolder machines{"machine", "machines", profile_endings};

/// Resolves the name of a file: an existing path, or the name of a shipped file without folder and
/// ending. A name that contains '/' is returned unchanged even if no such file exists, so that
/// opening it reports the error.
/// Throws InvalidTask with similar names if nothing matches.
std::string shared_file(const SharedFolder& folder, const std::string& given);
/// Searches several folders and returns the first match.
std::string shared_file(std::span<const SharedFolder> folders, const std::string& given);

} // namespace sextant::machine
