// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/format.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Opens Gatan DigitalMicrograph files, DM3 and DM4. Reads the largest image that is not a
/// thumbnail. All axes except columns and rows are treated as frames. The pixel size is the
/// calibration of the image.
///
/// Requires  integer samples of 8 to 32 bits, f32 or f64, and two or more axes (InvalidFile).
std::unique_ptr<FrameSource> open_dm(const std::string& path, const SourceOptions& options);

/// Opens HDF5 files. By default, reads the largest dataset of the first of these conventions that
/// the file follows, and lists the other datasets in a remark; `detail` names another dataset.
/// - Velox EMD: rows, columns, frames.
/// - Berkeley EMD: rows, columns and frames if the axes are named x and y, otherwise frames, rows,
///   columns.
/// - HyperSpy and NeXus: frames, rows, columns.
/// - Any dataset of integers or floats with two or more axes, of which the last two are rows and
///   columns. The pixel size is its attribute "element_size_um", if there is one.
///
/// Requires  main data that can be read. Throws InvalidFile, even if there are other datasets, if
///           the main data are complex numbers or a spectrum, or are the target of a link that was
///           not followed.
///
/// A separate process reads the file (read_apart.hpp), because libhdf5 can crash on files with
/// damaged internal tables. A crash is reported as InvalidFile.
///
/// Other files that the file refers to are read only if allowed. Sources of a virtual dataset in
/// the folder of the file or below it are always read.
///
/// Cost      each chunk is decoded once if rows are read in order and the chunks of a frame fit in
///           256 MiB or in eight times their stored size.
std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const SourceOptions& options);
/// Returns the other files from which open_hdf5() would read samples. Throws the same as
/// open_hdf5().
std::vector<std::string> files_referred_by_hdf5(const std::string& path,
                                                const SourceOptions& options);

/// Writes a dataset "/data" with the axes frames, rows and columns, or rows and columns for one
/// frame, in chunks of up to 64 frames and 4 MiB. Integers are compressed by deflate at level 1. A
/// pixel size in a unit of length is written as the attribute "element_size_um"; if frames are
/// slices, the attribute includes the slice distance. A frame interval is not written. libhdf5 is
/// not used: the metadata of one dataset have a fixed layout, and a library that holds a file open
/// must not be used in a process that forks to read other files.
///
/// Cost      holds up to 256 MiB of samples, or one row of chunks of a frame.
/// Source    HDF5 File Format Specification 2.0, superblock version 0
std::unique_ptr<FrameSink> create_hdf5(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);

/// Writes a dataset "/data" as create_hdf5() does, with chunks of `header.chunk`. Chunks that
/// consist of the fill value are not stored.
std::unique_ptr<ArraySink> create_hdf5_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options);
/// True if create_hdf5_array() stores the pixel size of the header.
bool hdf5_array_keeps_pixel(const ArrayHeader& header);

/// Opens a JPEG file as a frame of 8-bit samples, grey or RGB, baseline or progressive. The stored
/// resolution is meant for printing and is not used as the pixel size.
///
/// Requires  an intact file. Damaged or missing data, which libjpeg would fill with grey, cause
///           InvalidFile when their rows are read.
std::unique_ptr<FrameSource> open_jpeg_frame(const std::string& path, const SourceOptions& options);

/// Opens MRC and CCP4 maps and stacks, in either byte order, with an extended header of any length,
/// uncompressed or compressed by gzip or bzip2. Modes are 0 (i8, or u8 if IMOD's header states
/// this), 1 (i16), 2 (f32), 6 (u16), 12 (f16) and 101 (4 bits, read as u8; rows are padded to whole
/// bytes). Each section is a frame; by convention, the first stored row is the bottom row. The
/// pixel size is the cell size divided by the number of intervals, in Å.
///
/// Cost      compressed files: the same as open_nifti().
/// Source    Cheng et al., MRC2014, J. Struct. Biol. 192 (2015), doi:10.1016/j.jsb.2015.04.002
std::unique_ptr<FrameSource> open_mrc(const std::string& path, const SourceOptions& options);

/// Writes mode 0, 1, 2, 6 or 12 as a stack, compressed by gzip if the extension is .gz. Minimum,
/// maximum and mean are marked as undetermined. Pixel sizes in units of length are converted to Å.
std::unique_ptr<FrameSink> create_mrc(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options);

/// Opens NIfTI-1 and NIfTI-2 in a single file, in either byte order, uncompressed or compressed by
/// gzip. Samples are integers of 8 to 64 bits, f32 or f64; samples with a scale are read as f32
/// or, if floats do not suffice, as f64, with a remark. The axes are columns, rows, slices, times
/// and channels. As for TIFF files, one channel of one slice is read; slices are frames if there is
/// only one time or if a time is requested. The pixel size is the distance between columns and
/// between rows. If the frames are slices, `grid` has the orientation; the first stored row is not
/// flipped.
///
/// Pairs of files (.hdr and .img), complex numbers and colours cause InvalidFile.
///
/// Cost      compressed files are decompressed once, up to the last sample that is read, to a
///           scratch file (Spool) of at most the number of bytes that the header states. Each
///           source has its own scratch file, unless the options name that of another source.
/// Source    https://nifti.nimh.nih.gov/nifti-1, https://nifti.nimh.nih.gov/nifti-2
std::unique_ptr<FrameSource> open_nifti(const std::string& path, const SourceOptions& options);

/// Writes NIfTI-1, or NIfTI-2 if an axis is longer than 32767, compressed by gzip if the extension
/// is .gz. Slices are the third axis, and times the fourth. If the frames are slices, the grid of
/// the header is written. Otherwise only the frame interval and the pixel size are written, in µm
/// or mm if NIfTI lacks the unit; the distance between planes is then the same as between columns.
std::unique_ptr<FrameSink> create_nifti(const std::string& path, const FrameHeader& header,
                                        const SinkOptions& options);
bool nifti_keeps_pixel(const FrameHeader& header, const SinkOptions& options);

/// Opens NumPy arrays with two or more axes: the last two are rows and columns, all others are
/// frames. Elements are integers of 8 to 64 bits, floats of 16 to 64 bits or bools, in C or Fortran
/// order and either byte order. The format stores neither a pixel size nor axis names.
///
/// Source    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::unique_ptr<FrameSource> open_npy(const std::string& path, const SourceOptions& options);

/// Writes an array in C order.
std::unique_ptr<ArraySink> create_npy_array(const std::string& path, ArrayHeader header,
                                            const SinkOptions& options);

/// Opens image series written by TIA (Emispec), with offsets of 32 or 64 bits. Samples are integers
/// of 8 to 32 bits, f32 or f64. The first stored row is the bottom row. The pixel size is in m,
/// even for diffraction patterns, whose axes have another unit.
///
/// Requires  images of the same shape and sample type as the first; other images cause a remark,
///           and InvalidFile when they are read.
/// Cost      opening reads the header of every image.
std::unique_ptr<FrameSource> open_ser(const std::string& path, const SourceOptions& options);

/// Opens TIFF and BigTIFF files: one frame per page, in strips or tiles, in any compression that
/// libtiff supports. Samples are integers of 8 to 64 bits or floats of 16 to 64 bits, grey or RGB,
/// with or without alpha. Reduced copies of pages and masks are skipped. Stacks that ImageJ stores
/// after a single page are read. Integers are inverted if 0 is white. Palettes are not applied,
/// because they are meant for display.
///
/// Channels and slices are read from the metadata of ImageJ, OME or tifffile; interleaved grey
/// samples that are not alpha are channels, too. One channel of one slice is read. If a file has
/// slices but only one frame per slice, the slices are read as frames, unless a slice is requested.
/// The frame interval is read from the metadata of ImageJ or OME.
///
/// The pixel size is read from the metadata of ImageJ, OME or an instrument (tiff/instruments.hpp),
/// or else from a resolution in pixels per centimetre. A resolution in pixels per inch is meant for
/// printing and is not used.
///
/// Requires  pages of the same shape and sample type as the first; other pages cause a remark, and
///           InvalidFile when they are read. Pages beyond the end of a truncated file are omitted.
/// Cost      opening reads the directory of every page. A row of tiles is held in memory.
std::unique_ptr<FrameSource> open_tiff(const std::string& path, const SourceOptions& options);

/// Writes grey pages of integers of 8 to 32 bits or f32, uncompressed, one strip per page, in the
/// layout that TiffLayout describes. The description is for ImageJ if ImageJ can hold the pages,
/// otherwise OME-XML. Pixel size, axis and frame interval are written; frame labels are written
/// only for ImageJ.
std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);
bool tiff_keeps_pixel(const FrameHeader& header, const SinkOptions& options);

/// Opens Zarr stores of versions 2 and 3: a folder that is an array or a group of arrays. An array
/// has two or more axes: the last two are rows and columns, all others are frames. Elements are
/// integers of 8 to 64 bits, floats of 16 to 64 bits or bools, in either byte order. Axes may be in
/// any order within chunks. Chunks are uncompressed or compressed by zlib (version 2), gzip, zstd
/// or Blosc (blosclz, lz4, lz4hc, zstd, zlib). In version 3, chunks may have checksums (crc32c),
/// and may be stored in shards (sharding_indexed), of which only the index and the required chunks
/// are read. Missing chunks consist of the fill value.
///
/// `detail` names an array or a group. In a group, the first dataset of OME-Zarr's multiscales
/// (full resolution) is read, or else the only array. Pixel size, frame interval and the axes for
/// time, channels and slices follow OME-Zarr 0.4 or 0.5. As for TIFF files, one channel of one
/// slice is read, and slices are frames if there is only one time.
///
/// Symbolic links to files outside the folder are followed only if allowed.
///
/// Cost      up to 256 MiB of decoded samples are kept. Each chunk is decoded once if frames are
///           read in order and all frames of a chunk fit in this memory. Otherwise, if only
///           k of the n frames of a chunk fit, each chunk is decoded n/k times; if the rows of a
///           chunk exceed 256 MiB, it is decoded once per 256 MiB. A chunk that spans several
///           positions on two axes of frames is decoded once per position on the slower axis.
///           Several threads decode adjacent chunks of a row. With SourceOptions::every_plane, the
///           most recently used chunks are kept instead, up to `cache` bytes of decoded samples.
/// Source    https://zarr-specs.readthedocs.io/en/latest/specs.html,
///           https://ngff.openmicroscopy.org
std::unique_ptr<FrameSource> open_zarr(const std::string& path, const SourceOptions& options);

/// Writes a group of OME-Zarr 0.5, or 0.4 in Zarr version 2, with one array "0". The axes are
/// frames, rows and columns, or rows and columns for one frame. Chunks have up to 64 frames and 4
/// MiB, and are compressed by zstd at level 1; chunks of zeros are not written. In version 3,
/// several chunks form a shard of up to 64 MiB and of the depth of a chunk. Pixel size, axis and
/// frame interval are written. The folder appears complete or not at all. A store at `path` is
/// replaced, unless it has entries that do not belong to Zarr.
///
/// Cost      holds up to 256 MiB of samples, or one row of chunks of a frame, and the compressed
///           bytes of a row of shards.
std::unique_ptr<FrameSink> create_zarr(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);
/// As create_zarr(), but in parts; a part is a layer of chunks.
std::unique_ptr<FrameParts> create_zarr_parts(const std::string& path, const FrameHeader& header,
                                              const SinkOptions& options);
/// Throws InvalidFile if create_zarr() could not create or replace a folder at `path` now.
void require_writable_zarr(const std::string& path);

/// Writes a group with one array "0", compressed by zstd at level 1, with one file per chunk of
/// `header.chunk`. Chunks that consist of the fill value are not stored. The metadata of OME-Zarr
/// describe the axes if they are among t, c, z, y and x, in this order. All axis names are also
/// written as dimension names (dimension_names; _ARRAY_DIMENSIONS in version 2).
std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options);
/// True if create_zarr_array() stores the pixel size of the header.
bool zarr_array_keeps_pixel(const ArrayHeader& header);

} // namespace sextant::format
