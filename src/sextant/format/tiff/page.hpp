// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/units.hpp"
#include "sextant/format/checks.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tiffio.h>

namespace sextant::format {

/// The bytes of a file for libtiff, whose callbacks keep the current position here.
struct TiffBytes {
    std::string path;
    Bytes size = 0; ///< size of the file
    Bytes position = 0;
    /// Reads bytes. If it throws, the exception is stored in `thrown`, because it must not pass
    /// through C code.
    std::function<Bytes(Bytes position, std::span<std::byte> to)> read;

    std::string complaint = {};     ///< libtiff's first error since `complaint` was cleared
    std::exception_ptr thrown = {}; ///< thrown by `read`
};

struct CloseTiff {
    void operator()(TIFF* file) const { TIFFClose(file); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

/// Opens a file in one of libtiff's read modes ("r", "rm"), with warnings suppressed. `bytes` must
/// outlive the returned handle. Throws InvalidFile.
Tiff open_tiff_library(TiffBytes& bytes, const char* mode);

/// Returns the pixel size, the inverse of the page's resolution in pixels per `unit`; unknown if
/// the page states no resolution.
StatedPixelSize resolved_pixel(TIFF* file, const std::string& unit);

/// Returns the non-negative integer at the start of a text, or `otherwise`.
std::int64_t whole_number_in(std::string_view text, std::int64_t otherwise);

/// Throws the stored exception if there is one, otherwise InvalidFile with `what` and libtiff's
/// error.
[[noreturn]] void fail_tiff(TiffBytes& bytes, const std::string& what);

/// A page of a TIFF file, as described by its directory.
struct TiffPage {
    std::uint64_t directory = 0; ///< position of the directory in the file
    FrameHeader frame;           ///< shape, sample type and channels; on page 0, all fields
    int samples = 1;             ///< samples per pixel
    int channels = 1;            ///< number of samples that are channels; a frame has one of them
    int unread = 0;              ///< number of samples of unknown meaning after a pixel's colour
    ImageShape tile;             ///< 0×0 if the page is in strips
    std::int64_t strip = 1;      ///< rows per strip
    bool planes = false;         ///< true if samples of a pixel are in separate planes
    bool inverted = false;       ///< true if 0 is white
    bool compressed = false;
    bool reversed_bits = false; ///< true if the least significant bit of each byte comes first
    Bytes start = -1;           ///< position of the samples if they need no decoding, else -1
    bool whole = false;         ///< true if all strips or tiles are within the file
};

/// Reads the directory of libtiff's current page. Throws InvalidFile, naming the unsupported
/// feature.
TiffPage read_page(TIFF* file, const TiffBytes& bytes);

/// True unless the page is a mask or a reduced copy of another page.
bool is_picture(TIFF* file);

/// Returns the position of the current page's samples if they need no decoding: they must be
/// uncompressed, in contiguous strips and interleaved. Otherwise -1.
Bytes start_of_samples(TIFF* file, const TiffPage& page);

/// Returns the position of the samples of an ImageJ stack, in which the other images follow the
/// first page's image without gaps; -1 if the file has another layout. Stacks beyond 4 GiB have
/// only one page. In smaller stacks, the other directories follow the samples and may be lost by
/// truncation.
///
/// Requires  a total size of `images` images that does not overflow.
Bytes start_of_stack(TIFF* file, TiffBytes& bytes, const TiffPage& page, std::int64_t images);

} // namespace sextant::format
