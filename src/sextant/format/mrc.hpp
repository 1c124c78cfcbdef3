// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// MRC and CCP4 maps and stacks: modes 0 (i8, or u8 where IMOD says so), 1 (i16), 2 (f32), 6 (u16)
/// and 12 (f16), of either byte order, with an extended header of any length. A frame a section;
/// the row that is stored first is the lowest by custom. The pixel size is the cell over its
/// intervals, in Å.
///
/// Source    Cheng et al., MRC2014, J. Struct. Biol. 192 (2015), doi:10.1016/j.jsb.2015.04.002
std::unique_ptr<FrameSource> open_mrc(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// Mode 0, 1, 2, 6 or 12, as a stack, with minimum, maximum and mean marked as not determined.
/// Pixel sizes of a length are converted to Å.
std::unique_ptr<FrameSink> create_mrc(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options);

} // namespace sextant::format
