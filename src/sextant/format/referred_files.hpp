// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <string>
#include <vector>

namespace sextant::format {

/// Returns the files to which the files of a series refer, as open_frames() follows them: for HDF5,
/// the sources of virtual datasets, the targets of external links and external storage; for Zarr,
/// the symbolic links in the store and the files in folders to which they lead. Empty if a file
/// cannot be read.
///
/// Cost      opens each HDF5 file, and lists the folders of each Zarr store.
std::vector<std::string> files_referred(const std::string& name, const SourceOptions& options);

} // namespace sextant::format
