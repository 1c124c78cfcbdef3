// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <span>
#include <string>
#include <vector>

// What files of HyperSpy and NeXus state about the axes of an array.
namespace sextant::format {

/// An axis as a file describes it: empty or 0 where it states nothing.
struct DescribedAxis {
    std::string name;
    double step = 0; ///< from one position to the next
    std::string unit = {};
};

/// What the axes of an array state about its frames.
struct AxisMetadata {
    PixelSize pixel = {}; ///< of the axes y and x, else of the last two
    /// Of the axis t, else of the first one of three; 0 if it is not a time.
    Seconds frame_interval = 0;
    double slice_distance = 0;           ///< 0 unless the first one of three is a length
    std::vector<std::string> names = {}; ///< of all axes; empty unless each has a name
};

/// Requires  two or more axes.
AxisMetadata describe_axes(std::span<const DescribedAxis> axes);

} // namespace sextant::format
