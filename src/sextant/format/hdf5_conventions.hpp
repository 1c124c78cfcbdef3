// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/hdf5_library.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sextant::format {

/// A dataset and its meaning by the convention that its position in the file follows.
struct Hdf5Series {
    Hdf5Dataset dataset;
    std::size_t row_axis = 0, column_axis = 1; ///< all other axes are frames
    PixelSize pixel = {};
    Seconds frame_interval = 0;
};

/// Returns the dataset that holds the frames: the named one, or the largest among those of the
/// first convention that the file follows. Throws InvalidFile, which lists the datasets.
Hdf5Series find_hdf5_series(const Hdf5Input& file, const std::string& wanted,
                            std::vector<std::string>& remarks);

} // namespace sextant::format
