// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Series of images that TIA (Emispec) writes, with offsets of 32 or 64 bits: integers of 8 to 32
/// bits, f32 and f64. The row that is stored first is the lowest. The pixel size is in m, of
/// diffraction patterns in what their axes count.
///
/// Requires  that all images have the shape and samples of the first; another one is a remark, and
///           InvalidFile where it is read.
/// Cost      opening reads the header of every image.
std::unique_ptr<FrameSource> open_ser(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

} // namespace sextant::format
