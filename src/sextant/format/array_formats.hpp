// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/format/source_file.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Arrays in the formats that hold more axes than frames, rows and columns (array_catalogue.hpp).
namespace sextant::format {

/// The whole of a NumPy file; null if it is in Fortran order, whose planes are read as frames.
/// Throws InvalidFile as open_npy(), and if the file is truncated.
std::unique_ptr<ArraySource> open_npy_array(const std::string& path);
std::unique_ptr<ArraySink> create_npy_array(const std::string& path, ArrayHeader header);

/// All planes of a dataset, which another process reads. It keeps up to `cache` bytes of decoded
/// chunks, or those of one plane.
std::unique_ptr<ArraySource> open_hdf5_array(const std::string& path, const std::string& detail,
                                             const SourceOptions& options, Bytes cache);
/// A dataset "/data" with chunks of `header.chunk`, as create_hdf5() writes it. Chunks that consist
/// of the fill value are not stored.
std::unique_ptr<ArraySink> create_hdf5_array(const std::string& path, ArrayHeader header);
/// True if the pixel size is stored.
bool hdf5_array_keeps_pixel(const ArrayHeader& header);

/// An array of a Zarr store. Up to `cache` bytes of decoded chunks are kept, those used last;
/// chunks that are not stored cost nothing. The names of axes are those of OME-Zarr, or else those
/// of dimensions.
std::unique_ptr<ArraySource> open_zarr_array(const std::string& path, const std::string& detail,
                                             const SourceOptions& options, Bytes cache);
/// Writes a group with one array "0", compressed by zstd at level 1, with chunks of `header.chunk`
/// in files of their own. Chunks that consist of the fill value are not stored. Axes that OME-Zarr
/// knows (t, c, z, y and x, in this order) are described by its metadata; all names are names of
/// dimensions too (dimension_names; _ARRAY_DIMENSIONS in version 2).
std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options);
/// True if the pixel size is stored.
bool zarr_array_keeps_pixel(const ArrayHeader& header);

/// The samples of a file from byte `start` on, in C order without gaps. `swapped`: in foreign byte
/// order. `boolean`: bytes other than 0 are read as 1. Throws InvalidFile if it is truncated.
std::unique_ptr<ArraySource> stored_array(SourceFile file, ArrayHeader header, Bytes start,
                                          bool swapped, bool boolean);
/// Writes `start`, such as a header, followed by all samples in this machine's byte order. Samples
/// that are not written are 0; large gaps take no space on the disk.
std::unique_ptr<ArraySink> stored_array_sink(const std::string& path, ArrayHeader header,
                                             std::span<const std::byte> start);

/// The array of a series that is opened with SourceOptions::every_plane. Throws InvalidFile if it
/// is truncated and has several axes of frames.
std::unique_ptr<ArraySource> whole_array(std::unique_ptr<FrameSource> planes);

} // namespace sextant::format
