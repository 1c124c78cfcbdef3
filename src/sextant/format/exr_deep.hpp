// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/deep_image.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/exr_library.hpp"

#include <string>

namespace sextant::format {

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
