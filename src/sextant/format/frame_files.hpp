// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// Files that hold a frame each, in order.
struct FrameFiles {
    std::vector<std::string> paths;
    std::vector<std::string> remarks;
};

/// The files behind a name that stands for several: a folder, a pattern with * ? or [, a number
/// such as %04d, or a list with the extension .txt. Nothing where the name is that of one file.
/// Throws InvalidFile where there are none, or where a folder holds files of several formats.
std::optional<FrameFiles> find_frame_files(const std::string& name);

/// Whether `a` comes before `b` where numbers within are compared as numbers: "frame_9" before
/// "frame_10".
bool naturally_before(std::string_view a, std::string_view b);

} // namespace sextant::format
