// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

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
