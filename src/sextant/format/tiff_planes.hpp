// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/format/tiff_notes.hpp"
#include "sextant/format/tiff_page.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

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
