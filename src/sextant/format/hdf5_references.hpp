// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/hdf5_library.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// An HDF5 file may name other files: by external links, sources of virtual datasets, and external
// storage. This module decides which of them may be opened.
namespace sextant::format {

/// Returns the path with which the file of an object was opened.
std::string path_of(hid_t object);

/// Throws InvalidFile unless `other`, which holds samples of `file`, is a regular file that may be
/// read: either `file` allows external files, or `inside` is true and `other` is in the folder of
/// `file` or below it.
void require_readable(const Hdf5Input& file, const std::filesystem::path& other, bool inside);

/// Notes a file from which samples of another file are read.
void note_referred(const std::string& path);
/// Returns the files that this process has noted, which include those that open_referred opened.
const std::vector<std::string>& noted_as_referred();

/// Opens an HDF5 file to which `file` refers. Searches where libhdf5 does: at an absolute path, in
/// the folders listed in the environment variable `variable`, in the folder of `file`, in the
/// working folder. Empty if the file is not found. Throws InvalidFile if it may not be read.
std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable);

/// Makes libhdf5 follow external links through open_referred, or refuse them unless `allowed`.
/// Takes effect in the whole process.
void guard_external_links(bool allowed);

/// Returns libhdf5's error about an external link that was not followed; "" if its last error
/// has another cause.
std::string complaint_of_link();

} // namespace sextant::format
