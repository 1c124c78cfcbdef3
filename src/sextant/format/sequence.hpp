// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/format.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// Files with one frame each, in order.
struct FrameFiles {
    std::vector<std::string> paths;
    std::vector<std::string> remarks;
};

/// Returns the files that a name denotes: a folder, a pattern with * ? or [, a number such as %04d,
/// or a list with the extension .txt. Empty if the name denotes a single file, or a folder of a
/// format that stores a series in a folder. Throws InvalidFile if no file matches, or if a folder
/// has files of several formats.
std::optional<FrameFiles> find_frame_files(const std::string& name);

/// True if `a` precedes `b` in natural order, which compares numbers in names as numbers: "frame_9"
/// before "frame_10".
bool naturally_before(std::string_view a, std::string_view b);

/// Opens files with one frame each as a series. Each file is opened when it is read. Shape, sample
/// type and pixel size are those of the first file.
///
/// Requires  files of known formats (InvalidFile on opening), each with one frame of the same shape
///           and sample type as the first (InvalidFile when that frame is read).
std::unique_ptr<FrameSource> open_sequence(const std::string& name, FrameFiles files,
                                           const SourceOptions& options);

} // namespace sextant::format
