// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::operation {

/// A place in a frame of a series, and the line of the file that has it.
struct FramePoint {
    std::int64_t frame = 0;
    registration::Point at;
    int line = 0;
};

/// Reads lines of a frame's number, x and y, with commas between; lines with # and a first line of
/// these names are passed over. Throws InvalidFile, naming the line, for anything else.
std::vector<FramePoint> read_coordinates(const std::string& path);

/// The same, below a line of names.
std::string to_csv(const std::vector<FramePoint>& points);

} // namespace sextant::operation
