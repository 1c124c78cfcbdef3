// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tiffio.h>

namespace sextant::format {

/// What the library reads through: positions are counted here, since it seeks.
struct TiffBytes {
    std::string path;
    Bytes size = 0; ///< of the file, as far as it is there
    Bytes position = 0;
    /// May throw; what it throws is kept, since it must not pass through C.
    std::function<Bytes(Bytes position, std::span<std::byte> to)> read;

    std::string complaint = {};     ///< the library's first since it was emptied
    std::exception_ptr thrown = {}; ///< by `read`
};

struct CloseTiff {
    void operator()(TIFF* file) const { TIFFClose(file); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

/// Opens by the library's mode for reading ("r", "rm"), with its warnings unsaid. `bytes` must
/// outlive the result. Throws InvalidFile.
Tiff open_tiff_library(TiffBytes& bytes, const char* mode);

/// Throws what reading threw, or InvalidFile with `what` and the library's complaint.
[[noreturn]] void fail_tiff(TiffBytes& bytes, const std::string& what);

/// What a page of a TIFF file is, as its directory says.
struct TiffPage {
    std::uint64_t directory = 0; ///< where that lies in the file
    FrameHeader frame;           ///< shape, sample, channels; the rest is of the first page
    int samples = 1;             ///< of a pixel
    int channels = 1;            ///< of data among them, of which a frame is one
    int unread = 0;              ///< samples of no known meaning behind a colour
    ImageShape tile;             ///< 0×0 where the page is in strips
    std::int64_t strip = 1;      ///< rows of one, if it is
    bool planes = false;         ///< each sample of a pixel for itself
    bool inverted = false;       ///< 0 is white
    bool compressed = false;
    bool reversed_bits = false; ///< the lowest bit of each byte comes first
    Bytes start = -1;           ///< of its samples, if they are stored as frames are read
    bool whole = false;         ///< its strips or tiles lie within the file
};

/// The page that the library is at. Throws InvalidFile, naming what is not supported.
TiffPage read_page(TIFF* file, const TiffBytes& bytes);

/// Whether the page is a picture of its own: no reduced copy of another, and no mask.
bool is_picture(TIFF* file);

/// Where the samples of the page that the library is at begin, if they follow one another as they
/// are read: not compressed, in strips without gaps, pixel by pixel. -1 otherwise.
Bytes start_of_samples(TIFF* file, const TiffPage& page);

/// Where the samples of a stack of ImageJ's begin, that lie one after another as those of the first
/// page do: stacks beyond 4 GiB have no other page, in others the directories come last and may be
/// lost. -1 where the file is not laid out like this. `images` of them must be countable in bytes.
Bytes start_of_stack(TIFF* file, TiffBytes& bytes, const TiffPage& page, std::int64_t images);

} // namespace sextant::format
