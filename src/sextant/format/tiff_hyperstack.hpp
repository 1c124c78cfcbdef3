// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/format/tiff_page.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// No axis is longer.
constexpr std::int64_t longest_axis = std::numeric_limits<std::int32_t>::max();

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

/// Sets the steps of axes that are named from the fastest to the slowest: "CZT".
PageAxes in_order(PageAxes axes, std::string_view order);

/// Of channels that are samples of a pixel as well, those that are pages.
std::int64_t without_samples(std::int64_t channels, int samples);

/// The number that a text begins with, 0 if there is none.
double decimal_in(std::string_view text);
/// The same for whole numbers that are not negative.
std::int64_t whole_number_in(std::string_view text, std::int64_t otherwise);
/// The same for the length of an axis, 1 if there is none.
std::int64_t length_of_axis(std::string_view text);

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

/// What OME-XML says of the first image of a file that has so many pages, each with so many samples
/// a pixel. Planes in other files of the same set are no pages of this one.
TiffNotes ome_notes(std::string_view text, const std::string& path, std::int64_t pages,
                    int samples);

/// Which planes of a file are its frames.
struct PlaneChoice {
    PageAxes axes;
    PlanePosition first;    ///< of frame 0
    int sample = 0;         ///< of each pixel
    bool by_slices = false; ///< the frames are what the file calls slices
};

/// Chooses a channel and a slice: those of the options, or else the first with a remark. Slices
/// without other frames are the frames, unless one of them is asked for. The header gets the
/// hyperstack and the remarks. Throws InvalidFile for a channel or slice that does not exist.
PlaneChoice choose_planes(const std::string& path, const TiffNotes& notes, const TiffPage& first,
                          std::int64_t pages, const SourceOptions& options, FrameHeader& header);

/// Keeps the pages that are frames, in their order. The header gets their number, with those that
/// the file should have but does not.
void keep_frames(std::vector<TiffPage>& pages, const TiffNotes& notes, const PlaneChoice& choice,
                 FrameHeader& header);

} // namespace sextant::format
