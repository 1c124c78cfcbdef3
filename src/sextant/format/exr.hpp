// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <span>
#include <string>

namespace sextant::format {

/// OpenEXR: the channels R, G, B with optional A (1 where missing) and Z (depth), of half, float or
/// integer samples, in any compression. Colours are premultiplied in the file already.
///
/// The image is the display window. Where the data window does not cover it, pixels are transparent
/// and infinitely far; what lies outside it is dropped.
///
/// Requires  one part, no subsampled channel, no layers; otherwise throws InvalidFile. Of deep
/// files (exr_deep.hpp) the header is read, the pixels are not.
ImageHeader read_exr_header(const std::string& path);
void read_exr(const std::string& path, const ImageHeader& header, std::span<std::byte> to);

/// Writes float channels, or half ones of rgba_f16, bit for bit, losslessly compressed (ZIP).
void write_exr(const std::string& path, const Image& image);

} // namespace sextant::format
