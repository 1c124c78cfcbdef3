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

// Reading and writing files of all formats: colour images with optional depth, series of frames,
// and arrays.

namespace sextant::format {

/// Call the functions of the same names in the format of the path's extension.
ImageHeader read_header(const std::string& path);
void read_pixels(const std::string& path, const ImageHeader& header, std::span<std::byte> to);
/// Throws InvalidFile if the file cannot be read, or if the pixels do not fit in memory.
Image read_image(const std::string& path);
/// Throws InvalidFile if the file cannot be written, or if the format of `path` is read-only or
/// cannot hold the image.
void write_image(const std::string& path, const Image& image);
/// Read and write deep images. Throw InvalidFile if reading or writing fails, if the format cannot
/// hold deep images, if the file is flat, or if an image is invalid (fault_of).
DeepImage read_deep(const std::string& path);
void write_deep(const std::string& path, const DeepImage& image);

// Series of frames, and arrays with any number of axes.

/// The path of a file and the name of a part of the file.
struct SeriesName {
    std::string path, detail;
};
/// Splits a name at "::", unless a file with the unsplit name exists.
SeriesName split_series_name(const std::string& name);

/// Opens a series of frames by name:
///   movie.mrc                  a file of frames
///   movie.h5::/data/images     a dataset in a file; for a headerless file, its layout
///   volume.zarr                a folder that a format stores as a whole
///   folder, frame_*.png, frame_%04d.tif, frames.txt
///                              one file per frame, in natural order (frame_9 before frame_10); a
///                              list has one path per line, relative to its folder
/// Throws InvalidFile with the path, what was found and what was expected, for example if the
/// series does not have the requested channel or slice.
std::unique_ptr<FrameSource> open_frames(const std::string& name,
                                         const SourceOptions& options = {});

/// Returns the files from which open_frames() reads the series of this name.
std::vector<std::string> files_of_frames(const std::string& name);

/// Returns the format of a series that open_frames() can open, such as "TIFF" or "PNG files".
std::string format_of_frames(const std::string& name);

/// Creates a sink in the format of the path's extension. Throws InvalidFile.
std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options = {});
/// Returns a warning if a file written by create_frames() does not store the pixel size in the
/// header although the format can store other pixel sizes; otherwise "".
std::string remark_on_lost_pixel(const std::string& path, const FrameHeader& header,
                                 const SinkOptions& options = {});

/// As create_frames(), but in parts. Null if the format is unknown or must be written in order.
std::unique_ptr<FrameParts> create_frame_parts(const std::string& path, const FrameHeader& header,
                                               const SinkOptions& options = {});

/// Throws InvalidFile if the output at `path` could not be created now. The output is a file, or a
/// folder if the format stores a series in a folder. Leaves nothing behind.
void require_writable_output(const std::string& path);

/// Opens an array by a name that open_frames() accepts. NPY, HDF5 and Zarr arrays have all axes of
/// the file; hyperstacks have the axes T, Z, C, Y and X; other series have T, Y and X.
///
/// Input     options.axes names the axes (InvalidFile if the file states other names or if the
///           number of axes differs); other options that choose planes are ignored. `cache` is the
///           memory for decoded chunks.
/// Throws    the same as open_frames(), and InvalidFile if a truncated array has several axes of
///           frames.
std::unique_ptr<ArraySource> open_array(const std::string& name, const SourceOptions& options,
                                        Bytes cache);

/// Creates a sink in the format of the path's extension: NPY, HDF5 and Zarr for any axes; TIFF for
/// planes with the axes T, Z and C; other formats for series of frames (in order). HDF5 and Zarr
/// use `header.chunk` and `header.fill`; other sinks have chunks of length 1. Throws InvalidFile.
std::unique_ptr<ArraySink> create_array(const std::string& path, ArrayHeader header,
                                        const SinkOptions& options = {});

/// Returns a warning if a file written by create_array() does not store the pixel size or slice
/// distance in the header although the format can store those of other arrays; otherwise "".
std::string remark_on_lost_pixel(const std::string& path, const ArrayHeader& header);

} // namespace sextant::format
