// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// TIFF and BigTIFF: a frame a page, in strips or tiles, of any compression that libtiff knows;
/// integers of 8 to 64 bits and floats of 16 to 64; grey or RGB, with alpha or without. Reduced
/// copies of pages and masks are passed over. A stack that ImageJ keeps behind a single page is
/// read too. Integers are inverted where 0 is white; palettes are for display and are not applied.
///
/// Channels and slices are those of ImageJ, of OME, or of tifffile's note of its axes; grey samples
/// side by side that are not alpha are channels too. One channel of one slice is read. Slices
/// without other frames are the frames, unless one is asked for. The frame interval is ImageJ's or
/// OME's.
///
/// The pixel size is that of ImageJ or OME, or else a resolution in centimetres; one in inches is
/// meant for printing and is not taken.
///
/// Requires  that all pages have the shape and samples of the first: another one is a remark, and
///           InvalidFile where it is read. Pages that the file is too short for are left out.
/// Cost      opening reads every page's directory. A row of a tiled page keeps its row of tiles.
std::unique_ptr<FrameSource> open_tiff(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);

/// Grey pages of u8, u16, u32 or f32, uncompressed, a strip each, laid out by TiffLayout: as ImageJ
/// writes and reads them where it can hold them, otherwise described in OME-XML. Pixel size, axis
/// and frame interval are written.
std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);

} // namespace sextant::format
