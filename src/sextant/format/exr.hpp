// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/format/format.hpp"

#include <span>
#include <string>

namespace sextant::format {

/// Reads OpenEXR files with the channels R, G and B, and optionally A (default 1) and Z (depth), as
/// half, float or integer samples, in any compression. Colours are premultiplied in the file.
///
/// The image is the display window. Pixels outside the data window are transparent and infinitely
/// far; pixels outside the display window are dropped.
///
/// Requires  a single part, no subsampled channels and no layers; otherwise throws InvalidFile. For
///           a deep file, only the header can be read; read_exr_deep reads the pixels.
ImageHeader read_exr_header(const std::string& path);
void read_exr(const std::string& path, const ImageHeader& header, std::span<std::byte> to);

/// Writes float channels, or half for rgba_f16, with lossless compression (ZIP).
void write_exr(const std::string& path, const Image& image);

/// Reads deep scan lines with the channels R, G, B, A and Z, as half, float or integer samples.
/// Colours are premultiplied. Pixels outside the data window have no fragments.
///
/// Requires  all five channels, at full resolution; point samples without extent in depth (ZBack);
///           no tiles; a data window within the display window; otherwise throws InvalidFile. The
///           caller checks the order of fragments (fault_of).
DeepImage read_exr_deep(const std::string& path);

/// Writes float channels with lossless compression (ZIPS).
void write_exr_deep(const std::string& path, const DeepImage& image);

} // namespace sextant::format
