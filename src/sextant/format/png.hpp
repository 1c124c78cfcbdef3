// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <span>
#include <string>

namespace sextant::format {

/// PNG: any colour type, 1 to 16 bits a sample, interlaced or not; always rgba_f32.
///
/// The file holds straight alpha: reading divides samples by their largest value and multiplies the
/// colours by alpha. Samples are taken as they are, with no conversion by gamma or colour profile:
/// values that a viewer takes for sRGB, and blending does not turn into light and back.
///
/// Requires  an intact file up to its end; otherwise throws InvalidFile.
ImageHeader read_png_header(const std::string& path);
void read_png(const std::string& path, const ImageHeader& header, std::span<std::byte> to);

/// Writes 8-bit RGBA: colours are divided by alpha, clamped to [0, 1] and rounded to nearest. NaN
/// becomes 0. Depth is dropped, and so is the colour where alpha is 0. Reading an 8-bit file and
/// writing it again changes no visible pixel.
void write_png(const std::string& path, const Image& image);

/// The bytes that write_png would write, for pages that hold a picture. Throws InvalidFile.
std::string encode_png(const Image& image);

/// PNG as a frame of samples: grey or colour, with alpha or without, of 8 or 16 bits as stored.
/// Greys of fewer bits are scaled to 8, palettes give colours. The pixel size is that of a
/// resolution in metres.
///
/// Cost      memory for some rows; an interlaced file is decoded twice, in seven places at a time.
std::unique_ptr<FrameSource> open_png_frame(const std::string& path, const std::string& detail,
                                            const SourceOptions& options);

/// One grey frame of u8 or u16.
std::unique_ptr<FrameSink> create_png_frame(const std::string& path, const FrameHeader& header,
                                            const SinkOptions& options);

} // namespace sextant::format
