// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <string>
#include <vector>

namespace sextant::format {

/// Returns the files to which the files of a series refer, if open_frames() would read them. For
/// HDF5, these are the sources of virtual datasets, the targets of external links and external
/// storage. For Zarr, they are the symbolic links in the store and the files in linked folders.
/// HDF5 files that cannot be read are skipped.
///
/// Cost      opens each HDF5 file, and lists the folders of each Zarr store.
std::vector<std::string> files_referred(const std::string& name, const SourceOptions& options);

} // namespace sextant::format
