// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/tiff_library.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The position of a page in a hyperstack, from 0.
struct PlanePosition {
    std::int64_t channel = 0, slice = 0, frame = 0;
};

/// An axis that pages lie on.
struct PageAxis {
    std::int64_t count = 1;
    std::int64_t step = 1; ///< pages from one position to the next
};

/// The axes of a hyperstack: its pages follow one another, the axis of step 1 fastest.
struct PageAxes {
    PageAxis channels, slices, frames;

    /// How many planes there are.
    std::int64_t planes() const;
    PlanePosition position_of(std::int64_t page) const;
    std::int64_t page_of(const PlanePosition& position) const;
};

/// What the description and resolution of the first page say of all.
struct TiffNotes {
    PixelSize pixel;
    Seconds frame_interval = 0; ///< 0 where it is not known
    std::int64_t images = 0;    ///< as ImageJ states it; 0 where it did not write the file
    std::optional<PageAxes> axes = {};
    /// The planes of pages that are not in order; empty where all are.
    std::vector<std::optional<PlanePosition>> positions = {};
    std::vector<std::string> remarks = {};
};

/// Reads the notes of the page that the library is at, of a file that has so many pages,
/// each with so many samples a pixel.
TiffNotes read_notes(TIFF* file, const std::string& path, std::int64_t pages, int samples);

} // namespace sextant::format
