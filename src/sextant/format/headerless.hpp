// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Samples without a header. What they are is written behind the name, such as
/// "movie.raw::512x510,u16" with, where they apply, ",offset=1024" (bytes in front of the first
/// frame), ",frames=20" (else as many as are whole) and ",big-endian".
std::unique_ptr<FrameSource> open_headerless(const std::string& path, const std::string& detail,
                                             const SourceOptions& options);

} // namespace sextant::format
