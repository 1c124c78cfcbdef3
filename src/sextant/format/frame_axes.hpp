// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/format.hpp"
#include "sextant/format/frame_sources.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The same array, whose axes have usual names or, if the file states none, the `stated` ones.
/// Throws InvalidFile if the file states other names, or if their number differs.
std::unique_ptr<ArraySource> with_axis_names(std::unique_ptr<ArraySource> array,
                                             const std::string& stated);

/// The array of a series that is opened with SourceOptions::every_plane. Throws InvalidFile if it
/// is truncated and has several axes of frames.
std::unique_ptr<ArraySource> whole_array(std::unique_ptr<FrameSource> planes);

/// The array of a series: frames (t or, if they are slices, z), rows and columns; rows and columns
/// of one frame.
ArrayHeader series_array(const FrameHeader& series, StackAxis axis);

/// The name of an axis in lower case, or its letter, if it has one: "t" for "Time" or "frames".
std::string usual_axis_name(std::string name);

/// Why planes of rows and columns with these names, the last two of an array's axes, are not
/// frames: a file that names axes y and x has frames whose rows are y and whose columns are x, or
/// of neither of both, such as diffraction patterns (ky, kx) for each y and x. "" if they are
/// frames.
std::string why_no_frames(const ArrayAxes& as_read);

/// An array in a file, as far as its axes are concerned.
struct ArrayInFile {
    std::vector<std::int64_t> lengths;
    std::size_t row_axis, column_axis;
    std::string names = {};               ///< letters of "tczyx" if the file states them
    Seconds frame_interval = 0;           ///< 0 if unknown
    std::vector<std::string> labels = {}; ///< other names of the axes; empty if there are none
    static ArrayInFile with_last_axes(std::vector<std::int64_t> lengths);
};

/// Chooses the axes that are read as frames, and fills frames, shape, frame interval, hyperstack,
/// axes and remarks of the header. If the axes have no names, in the file or in the options, all
/// but rows and columns are frames. Otherwise a channel and a slice are read; if a time is
/// requested, or if there are slices but only one time and no slice is requested, the slices are
/// frames.
///
/// Requires  two or more axes. Throws InvalidFile if the names in the options do not fit the array,
///           if it has no such channel, slice or time, for an implausible number of frames, or if
///           the planes are not frames (why_no_frames).
FrameAxes choose_frame_axes(const std::string& path, const ArrayInFile& array,
                            const SourceOptions& options, FrameHeader& header);

} // namespace sextant::format
