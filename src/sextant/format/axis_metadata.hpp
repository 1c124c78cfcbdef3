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

// Descriptions of axes in files of HyperSpy and NeXus.
namespace sextant::format {

/// An axis as a file describes it: empty or 0 where it states nothing.
struct DescribedAxis {
    std::string name;
    double step = 0; ///< from one position to the next
    std::string unit = {};
    bool uneven = false; ///< its positions are stated, but have no common step
};

/// Sets the step from the first positions along an axis; 0 if they are not evenly spaced.
void take_positions(DescribedAxis& axis, std::span<const double> positions);
/// A remark that names the axes whose positions are not evenly spaced; "" if there are none.
std::string remark_on_uneven(std::span<const DescribedAxis> axes);

/// The properties of frames that follow from the axes of an array.
struct AxisMetadata {
    StatedPixelSize pixel = {};      ///< of the axes y and x, else of the last two
    StatedPixelSize last_pixel = {}; ///< of the last two axes, which are read as rows and columns
    /// Of the axis t, else of the first one of three; 0 if it is not a time.
    Seconds frame_interval = 0;
    double slice_distance = 0; ///< 0 unless the first one of three is a length, and not y or x
    std::vector<std::string> names = {}; ///< of all axes; empty unless each has a name
};

/// Returns the first axis with one of these names, in upper or lower case.
std::optional<std::size_t> axis_named(std::span<const DescribedAxis> axes,
                                      std::initializer_list<std::string_view> names);

/// Returns the pixel size of an image whose rows and columns are these axes; unknown unless both
/// state a step.
StatedPixelSize pixel_of(const DescribedAxis& row, const DescribedAxis& column);

/// Requires  two or more axes.
AxisMetadata describe_axes(std::span<const DescribedAxis> axes);

} // namespace sextant::format
