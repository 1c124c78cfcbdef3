// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/format/frame_files.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Files of one frame each as a series, each opened when it is read. Shape, samples and pixel size
/// are those of the first.
///
/// Requires  that the files are of known formats (InvalidFile, named on opening), and that each
///           holds one frame like the first (InvalidFile, where that frame is read).
std::unique_ptr<FrameSource> open_sequence(const std::string& name, FrameFiles files,
                                           const SourceOptions& options);

} // namespace sextant::format
