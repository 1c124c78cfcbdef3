// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/tiff_axes.hpp"
#include "sextant/format/tiff_library.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// What the description and resolution of the first page say of all.
struct TiffNotes {
    PixelSize pixel;
    Seconds frame_interval = 0; ///< 0 where it is not known
    std::int64_t images = 0;    ///< as ImageJ states it; 0 where it did not write the file
    std::optional<PageAxes> axes = {};
    /// The planes of pages that are not in order; empty where all are.
    std::vector<std::optional<PlanePosition>> positions = {};
    bool cut_off = false; ///< the file should have more pages
    std::vector<std::string> remarks = {};
};

/// Reads the notes of the page that the library is at, of a file that has so many pages,
/// each with so many samples a pixel.
TiffNotes read_notes(TIFF* file, const std::string& path, std::int64_t pages, int samples);

} // namespace sextant::format
