// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/hdf5_library.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sextant::format {

/// A dataset with the meaning that its place in the file gives it.
struct Hdf5Series {
    Hdf5Dataset dataset;
    std::size_t row_axis = 0, column_axis = 1; ///< all others are of frames
    PixelSize pixel = {};
    Seconds frame_interval = 0;
};

/// Which dataset of a file holds the frames: the one of a name, or the largest among those of the
/// first convention that the file follows. Throws InvalidFile, naming what there is.
Hdf5Series find_hdf5_series(const Hdf5Input& file, const std::string& wanted,
                            std::vector<std::string>& remarks);

} // namespace sextant::format
