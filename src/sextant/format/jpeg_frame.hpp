// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// JPEG as a frame of 8-bit samples, grey or RGB, baseline or progressive. Its resolution is meant
/// for printing and is not taken for a pixel size.
///
/// Requires  an intact file: damaged or missing data, which the library would fill up with grey, is
///           InvalidFile where its rows are read.
std::unique_ptr<FrameSource> open_jpeg_frame(const std::string& path, const std::string& detail,
                                             const SourceOptions& options);

} // namespace sextant::format
