// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Gatan DigitalMicrograph, DM3 and DM4: the largest image of the file that is of integers of 8 to
/// 32 bits, f32 or f64 (its thumbnails are in colour). Axes behind columns and rows are frames. The
/// pixel size is the image's calibration.
std::unique_ptr<FrameSource> open_dm(const std::string& path, const std::string& detail,
                                     const SourceOptions& options);

} // namespace sextant::format
