// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// TIFF and BigTIFF: a frame a page, in strips or tiles, of any compression that libtiff knows;
/// integers of 8 to 64 bits and floats of 16 to 64; grey or RGB, with alpha or without. Reduced
/// copies of pages and masks are passed over. A stack that ImageJ keeps behind a single page is
/// read too. White-is-zero is turned round; palettes are for display and are not applied.
///
/// The pixel size is that of ImageJ or OME, or else a resolution in centimetres; one in inches is
/// meant for printing and is not taken.
///
/// Requires  that all pages have the shape and samples of the first: another one is a remark, and
///           InvalidFile where it is read. Pages that the file is too short for are left out.
/// Cost      opening reads every page's directory. A row of a tiled page keeps its row of tiles.
std::unique_ptr<FrameSource> open_tiff(const std::string& path, const std::string& detail);

/// Grey pages of u8, u16 or f32, uncompressed, in strips or square tiles; BigTIFF where a file
/// could reach 4 GiB. Pixel size and number of frames are written as ImageJ reads them.
std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);

/// Whether such a file could reach 4 GiB, beyond which offsets of 32 bits do not go.
bool needs_big_tiff(const FrameHeader& header, const SinkOptions& options);

} // namespace sextant::format
