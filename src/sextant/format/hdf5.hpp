// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// HDF5, with images as microscopes and their programs put them there: Velox EMD (rows, columns,
/// frames), Berkeley EMD and HyperSpy (frames, rows, columns), with their pixel sizes; or any
/// dataset of integers or floats of two axes and more, of which the last two are rows and columns.
/// `detail` names a dataset; without it the largest of the first of these kinds is taken, and the
/// others are remarked on.
///
/// A process of its own reads (read_apart.hpp): libhdf5 can crash on files whose inner tables are
/// damaged. This is then an InvalidFile as all else.
///
/// Other files that it names are read only if that is allowed, but for the sources of a virtual
/// dataset in the folder of the file or below it.
///
/// Cost      chunks are decoded once for rows that are read in order, if those of a frame fit in
///           256 MiB or eight times what is stored.
std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);

} // namespace sextant::format
