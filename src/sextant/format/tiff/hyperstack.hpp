// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/format.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/tiff/page.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The maximum accepted length of an axis.
constexpr std::int64_t longest_axis = std::numeric_limits<std::int32_t>::max();

/// The position of a page in a hyperstack, counted from 0.
struct PlanePosition {
    std::int64_t channel = 0, slice = 0, frame = 0;
};

/// An axis of pages.
struct PageAxis {
    std::int64_t count = 1;
    std::int64_t step = 1; ///< number of pages between adjacent positions on the axis
};

/// The axes of a hyperstack. The axis with step 1 varies fastest from page to page.
struct PageAxes {
    PageAxis channels, slices, frames;

    /// The number of planes.
    std::int64_t planes() const;
    PlanePosition position_of(std::int64_t page) const;
    std::int64_t page_of(const PlanePosition& position) const;
};

/// Sets the steps of the axes for an order from the fastest to the slowest axis, such as "CZT".
PageAxes in_order(PageAxes axes, std::string_view order);

/// Returns the number of channels on separate pages if each page has `samples` interleaved
/// channels.
std::int64_t without_samples(std::int64_t channels, int samples);

/// Returns the number at the start of a text; 0 if there is none.
double decimal_in(std::string_view text);
/// Returns the axis length at the start of a text; 1 if there is none.
std::int64_t length_of_axis(std::string_view text);

/// The metadata of a file, from the description and the resolution of its first page.
struct TiffNotes {
    StatedPixelSize pixel;
    Seconds frame_interval = 0; ///< 0 if unknown
    double slice_distance = 0;  ///< in the unit of the pixel's x; 0 if unknown
    std::int64_t images = 0;    ///< number stated by ImageJ; 0 if ImageJ did not write the file
    std::optional<PageAxes> axes = {};
    /// The plane of each page, if the metadata assign planes; empty if pages follow the order of
    /// `axes`.
    std::vector<std::optional<PlanePosition>> positions = {};
    bool cut_off = false; ///< true if the metadata refer to more pages than the file has
    std::vector<std::string> remarks = {};
};

/// Reads the metadata of libtiff's current page. `pages` is the number of pages in the file, and
/// `samples` the number of samples per pixel.
TiffNotes read_notes(TIFF* file, const std::string& path, std::int64_t pages, int samples);

/// Reads the metadata of the first image in OME-XML. `pages` and `samples` are as in read_notes().
/// Planes in other files of the data set are ignored.
TiffNotes ome_notes(std::string_view text, const std::string& path, std::int64_t pages,
                    int samples);

/// The choice of planes that are read as frames.
struct PlaneChoice {
    PageAxes pages;
    ArrayInFile array; ///< times, slices and channels, if there are several, rows and columns
    FrameAxes axes;
    int sample = 0; ///< index of the first sample of each pixel that is read

    /// Returns the position on an axis of the array.
    std::int64_t position_on(std::size_t axis, const PlanePosition& plane) const;
};

/// Chooses planes as choose_frame_axes() does. All planes are chosen only if pages have a single
/// channel.
PlaneChoice choose_planes(const std::string& path, const TiffNotes& notes, const TiffPage& first,
                          std::int64_t pages, const SourceOptions& options, FrameHeader& header);

/// Removes the pages that are not frames, and sorts the others. Lowers the number of frames in the
/// header if frames are in other files; frames that are missing in a truncated file count.
void keep_frames(std::vector<TiffPage>& pages, const TiffNotes& notes, const PlaneChoice& choice,
                 FrameHeader& header);

} // namespace sextant::format
