// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/format.hpp"

#include <memory>
#include <span>
#include <string>

namespace sextant::format {

/// Reads PNG files of any colour type, with 1 to 16 bits per sample, interlaced or not, as
/// rgba_f32.
///
/// PNG stores straight alpha: reading scales samples to [0, 1] and multiplies colours by alpha.
/// Gamma and colour profile are not applied: values stay encoded as in the file, usually in sRGB,
/// and are blended without conversion.
///
/// Requires  an intact file up to its end; otherwise throws InvalidFile.
ImageHeader read_png_header(const std::string& path);
void read_png(const std::string& path, const ImageHeader& header, std::span<std::byte> to);

/// Writes 8-bit RGBA. Colours are divided by alpha, clamped to [0, 1] and rounded to nearest. NaN
/// becomes 0. Depth is dropped; colour is dropped if alpha is 0. Reading an 8-bit file and writing
/// it again changes no visible pixel.
void write_png(const std::string& path, const Image& image);

/// Returns the bytes that write_png would write, for embedding in HTML pages. Throws InvalidFile.
std::string encode_png(const Image& image);

/// Opens a PNG file as a frame: grey or colour, with or without alpha, 8 or 16 bits as stored. Grey
/// samples of fewer than 8 bits are scaled to 8; palette indices are converted to colours. The
/// pixel size is computed from a resolution in pixels per metre.
///
/// Cost      memory for a few rows; an interlaced file is decoded by seven decoders at once.
std::unique_ptr<FrameSource> open_png_frame(const std::string& path, const SourceOptions& options);

/// Writes one grey frame of u8 or u16.
std::unique_ptr<FrameSink> create_png_frame(const std::string& path, const FrameHeader& header,
                                            const SinkOptions& options);

} // namespace sextant::format
