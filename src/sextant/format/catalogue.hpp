// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/format/format.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files of all formats: images with colours and depth, and series of frames and arrays.

namespace sextant::format {

/// Each of these functions calls the one of the same name for the path's format.
ImageHeader read_header(const std::string& path);
void read_pixels(const std::string& path, const ImageHeader& header, std::span<std::byte> to);
/// Throws InvalidFile if the file cannot be read, or if its pixels do not fit in memory.
Image read_image(const std::string& path);
/// Throws InvalidFile if the file cannot be written, or if the format of `path` is read-only or
/// cannot hold the image.
void write_image(const std::string& path, const Image& image);
/// Read and write deep images. Throw InvalidFile if reading or writing fails, if the format of
/// `path` cannot hold deep images, if the file is flat, or if an image is invalid (fault_of).
DeepImage read_deep(const std::string& path);
void write_deep(const std::string& path, const DeepImage& image);

// Series of frames, and arrays of any axes.

/// The path of a file and the name of a part of it.
struct SeriesName {
    std::string path, detail;
};
/// Splits a name at "::", unless there is a file with the whole name.
SeriesName split_series_name(const std::string& name);

/// Opens a series of frames by name:
///   movie.mrc                  a file of frames
///   movie.h5::/data/images     a dataset in it; for a headerless file, its layout
///   volume.zarr                a folder that a format stores as a whole
///   folder, frame_*.png, frame_%04d.tif, frames.txt
///                              one file per frame, in natural order (frame_9 before frame_10); a
///                              list has one path per line, relative to its folder
/// Throws InvalidFile with the path, what was found and what was expected, for example if the
/// series does not have the channel or slice.
std::unique_ptr<FrameSource> open_frames(const std::string& name,
                                         const SourceOptions& options = {});

/// Returns the files of a series that open_frames opens by this name.
std::vector<std::string> files_of_frames(const std::string& name);

/// Returns the format of a series that open_frames can open: "TIFF", or "files of PNG".
std::string format_of_frames(const std::string& name);

/// Creates a sink of the format given by the extension of `path`. Throws InvalidFile.
std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options = {});
/// A warning that a file written by create_frames() lacks the pixel size in the header, although
/// its format holds others; "" if it does not lack it.
std::string remark_on_lost_pixel(const std::string& path, const FrameHeader& header,
                                 const SinkOptions& options = {});

/// The same in parts; null if the format is unknown, or is written in order.
std::unique_ptr<FrameParts> create_frame_parts(const std::string& path, const FrameHeader& header,
                                               const SinkOptions& options = {});

/// Throws InvalidFile if a file, or a folder of a format that stores a series in a folder, could
/// not be created at `path` now. Leaves nothing behind.
void require_writable_output(const std::string& path);

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
