// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/hdf5/library.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// An HDF5 file may refer to other files by external links, sources of virtual datasets and external
// storage. The functions below determine which of these files may be opened.
namespace sextant::format {

/// Returns the path by which the file of an object was opened.
std::string path_of(hid_t object);

/// Throws InvalidFile unless `other`, a file with samples of `file`, may be read. It must be a
/// regular file, and either `file` allows external files, or `inside` is true and `other` is in the
/// folder of `file` or below it.
void require_readable(const Hdf5Input& file, const std::filesystem::path& other, bool inside);

/// Records a file from which samples of another file are read.
void note_referred(const std::string& path);
/// Returns the files that this process has recorded, including those opened by open_referred.
const std::vector<std::string>& noted_as_referred();

/// Opens an HDF5 file that `file` refers to. Searches the same paths as libhdf5: an absolute path,
/// the folders in the environment variable `variable`, the folder of `file`, and the working
/// folder. Empty if the file is not found. Throws InvalidFile if the file must not be read.
std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable);

/// Makes libhdf5 open external links through open_referred if `allowed`, or refuse them otherwise.
/// Applies to the whole process.
void guard_external_links(bool allowed);

/// Returns libhdf5's error on an external link that was not followed; "" if the last error has
/// another cause.
std::string complaint_of_link();

} // namespace sextant::format
