// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// NumPy's arrays of two axes (rows, columns) or more (the others before them are frames), of
/// integers of 8 to 64 bits, floats of 16 to 64 or bools; in C or Fortran order and either byte
/// order. The format has no pixel size.
///
/// Source    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::unique_ptr<FrameSource> open_npy(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// An array (frames, rows, columns), of one frame (rows, columns), of any sample, in C order.
std::unique_ptr<FrameSink> create_npy(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options);

} // namespace sextant::format
