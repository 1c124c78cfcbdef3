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

/// Returns the same array with normalised axis names (see usual_axis_name()). If the file states no
/// names, the array gets the `stated` ones.
///
/// Throws    InvalidFile if the file states other names, or if the number of names differs.
std::unique_ptr<ArraySource> with_axis_names(std::unique_ptr<ArraySource> array,
                                             const std::string& stated);

/// Returns the array of a series that was opened with SourceOptions::every_plane. Throws
/// InvalidFile if the series is truncated and has several axes of frames.
std::unique_ptr<ArraySource> whole_array(std::unique_ptr<FrameSource> planes);

/// Returns the header of a series as an array: the axis of frames (t, or z if frames are slices),
/// rows and columns; or rows and columns for one frame.
ArrayHeader series_array(const FrameHeader& series, StackAxis axis);

/// Returns the usual name of an axis: its letter if it has one, such as "t" for "Time" or "frames",
/// otherwise the name in lower case.
std::string usual_axis_name(std::string name);

/// Returns the reason why planes of the last two axes of an array are not frames; "" if they are
/// frames. In a file with axes named y and x, frames have the rows y and the columns x, or use
/// neither axis, such as diffraction patterns (ky, kx) for each y and x.
std::string why_no_frames(const ArrayAxes& as_read);

/// The axes of an array in a file.
struct ArrayInFile {
    std::vector<std::int64_t> lengths;
    std::size_t row_axis, column_axis;
    std::string names = {};     ///< one letter of "tczyx" per axis, if the file states them
    Seconds frame_interval = 0; ///< 0 if unknown
    std::vector<std::string> labels = {}; ///< other axis names in the file; empty if there are none
    static ArrayInFile with_last_axes(std::vector<std::int64_t> lengths);
};

/// Chooses the axes that are read as frames. Fills frames, shape, frame interval, hyperstack, axes
/// and remarks of the header. If neither the file nor the options name the axes, all axes except
/// rows and columns are frames. Otherwise one channel is read, and the frames are the times of one
/// slice. The frames are slices instead if a time is requested, or if there are slices but only one
/// time and no slice is requested.
///
/// Requires  two or more axes. Throws InvalidFile if the names in the options do not match the
///           array, if the requested channel, slice or time does not exist, if the number of frames
///           is implausible, or if the planes are not frames (why_no_frames).
FrameAxes choose_frame_axes(const std::string& path, const ArrayInFile& array,
                            const SourceOptions& options, FrameHeader& header);

} // namespace sextant::format
