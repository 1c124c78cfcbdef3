// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/exr_library.hpp"

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

/// The header of a deep OpenEXR file: element deep_f32. Throws as read_exr_deep.
ImageHeader deep_exr_header(const std::string& path, const ExrStart& start);

/// Deep scan lines: samples with the channels R, G, B, A and Z of half, float or integer, colours
/// premultiplied. Pixels outside the data window have no sample.
///
/// Requires  all five channels, at full resolution; points, no extents (ZBack); no tiles; a data
///           window within the display window; otherwise throws InvalidFile. The order of samples
///           is the caller's to check (fault_of).
DeepImage read_exr_deep(const std::string& path);

/// Writes float channels, bit for bit, losslessly compressed (ZIPS).
void write_exr_deep(const std::string& path, const DeepImage& image);

} // namespace sextant::format
