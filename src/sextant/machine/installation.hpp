// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
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

} // namespace sextant::machine
