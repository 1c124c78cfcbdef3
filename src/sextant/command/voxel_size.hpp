// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <array>
#include <string>

namespace sextant::command {

/// The drawn size of a voxel along z, y and x, and its unit.
struct VoxelSize {
    std::array<double, 3> sides{1, 1, 1};
    std::string unit = "voxels";
    std::string words = "unknown: drawn as cubes";
};

/// The size that a file states for its voxels. Planes whose distance is unknown are drawn as thick
/// as a voxel is wide.
VoxelSize voxel_of(const FrameHeader& header);

/// Returns the size of a pixel, or of a voxel of a volume, in the unit of the option sigma.
/// Requires  a unit of length, and a file that states the size (InvalidTask, naming the option and
///           the file).
kernel::Scales pixel_size_in(const std::string& unit, const FrameHeader& header,
                             kernel::Dimensions dimensions, const std::string& file);

} // namespace sextant::command
