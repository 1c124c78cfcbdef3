// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/checks.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Axis descriptions in files of HyperSpy and NeXus.
namespace sextant::format {

/// An axis as a file describes it. Fields that the file does not state are empty or 0.
struct DescribedAxis {
    std::string name;
    double step = 0; ///< the distance between adjacent positions
    std::string unit = {};
    bool uneven = false; ///< true if the positions that the file states are unevenly spaced
};

/// Determines the step from the first positions along an axis. The step is 0 if the positions are
/// not evenly spaced.
void take_positions(DescribedAxis& axis, std::span<const double> positions);
/// Returns a remark that names the axes whose positions are not evenly spaced; "" if there are
/// none.
std::string remark_on_uneven(std::span<const DescribedAxis> axes);

/// The properties of frames that are derived from the axes of an array.
struct AxisMetadata {
    StatedPixelSize pixel = {}; ///< of the axes y and x; if there are none, of the last two axes
    StatedPixelSize last_pixel = {}; ///< of the last two axes, which are read as rows and columns
    /// The step of the axis t or, if there is none, of the first axis of a three-axis array; 0 if
    /// that axis is not a time axis.
    Seconds frame_interval = 0;
    /// The step of the first of three axes; 0 if that axis is y or x, or its step is not a length.
    double slice_distance = 0;
    std::vector<std::string> names = {}; ///< of all axes; empty unless every axis has a name
};

/// Returns the first axis with one of these names, in upper or lower case.
std::optional<std::size_t> axis_named(std::span<const DescribedAxis> axes,
                                      std::initializer_list<std::string_view> names);

/// Returns the pixel size of an image with these axes; unknown unless both axes state a step.
StatedPixelSize pixel_of(const DescribedAxis& row, const DescribedAxis& column);

/// Derives the properties of frames from the axes of an array.
///
/// Requires  two or more axes.
AxisMetadata describe_axes(std::span<const DescribedAxis> axes);

} // namespace sextant::format
