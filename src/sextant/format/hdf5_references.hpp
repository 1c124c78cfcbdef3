// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/hdf5_library.hpp"

#include <filesystem>
#include <optional>
#include <string>

// An HDF5 file may name other files: by external links, by the sources of virtual datasets, and by
// datasets in external storage. This decides which of them may be opened.
namespace sextant::format {

/// The path by which the file of an object was opened.
std::string path_of(hid_t object);

/// Throws InvalidFile unless a file with samples of `file` is a regular file that may be read:
/// `file` allows others, or else, if `inside`, it lies in the folder of `file` or below it.
void require_readable(const Hdf5Input& file, const std::filesystem::path& other, bool inside);

/// Opens another HDF5 file where libhdf5 looks for it: at an absolute path, in the folders that an
/// environment variable names, in the folder of the file that refers to it, in the working folder.
/// Nothing where there is none. Throws InvalidFile for one that may not be read.
std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable);

/// From here on libhdf5 follows external links by open_referred, and only if they are allowed. This
/// holds for the whole process.
void guard_external_links(bool allowed);

/// What the library's complaint says of a link that was not followed; "" if it is about something
/// else.
std::string complaint_of_link();

} // namespace sextant::format
