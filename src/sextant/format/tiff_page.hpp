// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/tiff_library.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

/// What a page of a TIFF file is, as its directory says.
struct TiffPage {
    std::uint64_t directory = 0; ///< where that lies in the file
    FrameHeader frame;           ///< shape, sample, channels; the rest is of the first page
    ImageShape tile;             ///< 0×0 where the page is in strips
    std::int64_t strip = 1;      ///< rows of one, if it is
    bool planes = false;         ///< each channel for itself
    bool inverted = false;       ///< 0 is white
    bool compressed = false;
    bool whole = false; ///< its strips or tiles lie within the file
};

/// The page that the library is at. Throws InvalidFile, naming what is not supported.
TiffPage read_page(TIFF* file, const TiffBytes& bytes);

/// Whether the page is a picture of its own: no reduced copy of another, and no mask.
bool is_picture(TIFF* file);

/// What the description and resolution of the first page say of all.
struct TiffNotes {
    PixelSize pixel;
    std::int64_t images = 0; ///< as ImageJ states it; 0 where it did not write the file
};
TiffNotes read_notes(TIFF* file);

/// Where the samples of a stack of ImageJ's begin, that lie one after another as those of the first
/// page do: stacks beyond 4 GiB have no other page, in others the directories come last and may be
/// lost. -1 where the file is not laid out like this. `images` of them must be countable in bytes.
Bytes start_of_stack(TIFF* file, TiffBytes& bytes, const TiffPage& page, std::int64_t images);

} // namespace sextant::format
