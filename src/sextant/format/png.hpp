// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

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

} // namespace sextant::format
