// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// Splits names of axes: a letter each ("TYXE"), or names separated by commas ("t,y,x,ky,kx").
/// Returns them in lower case. Throws InvalidTask, for the array named `path`, unless each is a
/// letter followed by letters, digits, '_' or '-', and all differ.
std::vector<std::string> parse_axis_names(const std::string& path, std::string_view text);

/// True if frames with these axes can be chosen by a FrameSource: letters of "TCZYX".
bool are_plane_axes(std::string_view text);

/// Opens an array by the names that open_frames() accepts. NPY, HDF5 and Zarr are read with all
/// their axes; hyperstacks with the axes T, Z, C, Y and X, other series with T, Y and X.
///
/// Input     options.axes names the axes (InvalidFile if the file states other names or the number
///           differs); other options that choose planes are ignored. `cache` is the memory for
///           decoded chunks.
/// Throws    InvalidFile as open_frames(), and if an array of several axes of frames is truncated.
std::unique_ptr<ArraySource> open_array(const std::string& name, const SourceOptions& options,
                                        Bytes cache);

/// Creates a sink of the format given by the extension of `path`: NPY, HDF5 and Zarr for any axes;
/// TIFF for planes with the axes T, Z and C; other formats for series of frames (in order).
/// `header.chunk` and `header.fill` are used by HDF5 and Zarr; other sinks have chunks of 1. Throws
/// InvalidFile.
std::unique_ptr<ArraySink> create_array(const std::string& path, ArrayHeader header,
                                        const SinkOptions& options = {});

/// A warning that a file written by create_array() lacks the pixel size or the distance of slices
/// in the header, although its format holds those of other arrays; "" if it lacks neither.
std::string remark_on_lost_pixel(const std::string& path, const ArrayHeader& header);

} // namespace sextant::format
