// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/format.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Gatan DigitalMicrograph, DM3 and DM4. Reads the largest image that is not a thumbnail. Axes
/// after columns and rows are frames. The pixel size is the image's calibration.
///
/// Requires  samples that are integers of 8 to 32 bits, f32 or f64, and two or more axes
///           (InvalidFile).
std::unique_ptr<FrameSource> open_dm(const std::string& path, const std::string& detail,
                                     const SourceOptions& options);

/// HDF5, with images in the conventions of microscopes and their software: Velox EMD (rows,
/// columns, frames), Berkeley EMD (the same axes if they are named x and y, else frames, rows,
/// columns), HyperSpy and NeXus (frames, rows, columns), with their pixel sizes; or any dataset of
/// integers or floats with two or more axes, of which the last two are rows and columns, with the
/// size of an element in its attribute "element_size_um", if it has one. `detail` names a dataset;
/// by default, the largest dataset of the first of these kinds is read, and the others are listed
/// in a remark.
///
/// Requires  main data that can be read: InvalidFile if they are complex numbers or a spectrum, or
///           where a link leads that was not followed, even if there are other datasets.
///
/// A separate process reads the file (read_apart.hpp), because libhdf5 can crash on files whose
/// internal tables are damaged. A crash is reported as InvalidFile.
///
/// Other files to which the file refers are read only if allowed. Sources of a virtual dataset that
/// are in the folder of the file or below it are always read.
///
/// Cost      each chunk is decoded once if rows are read in order and a frame's chunks fit in 256
///           MiB or eight times their stored size.
std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);
/// Returns the other files from which open_hdf5() would read samples. Throws as it does.
std::vector<std::string> files_referred_by_hdf5(const std::string& path, const std::string& detail,
                                                const SourceOptions& options);

/// Writes a dataset "/data": (frames, rows, columns), or (rows, columns) for one frame, in chunks
/// of up to 64 frames and 4 MiB. Integers are compressed by deflate at level 1. A pixel size in a
/// unit of length is written as the attribute "element_size_um", with the distance of slices if
/// frames are slices; a frame interval is not written. libhdf5 is not used: the metadata of one
/// dataset have a fixed layout, and a library that holds a file open must not be used in a process
/// that forks to read other files.
///
/// Cost      up to 256 MiB of samples are held, or one row of chunks of a frame.
/// Source    HDF5 File Format Specification 2.0, superblock version 0
std::unique_ptr<FrameSink> create_hdf5(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);

/// All planes of a dataset, which another process reads. It keeps up to `cache` bytes of decoded
/// chunks, or those of one plane.
std::unique_ptr<ArraySource> open_hdf5_array(const std::string& path, const std::string& detail,
                                             const SourceOptions& options, Bytes cache);
/// A dataset "/data" with chunks of `header.chunk`, as create_hdf5() writes it. Chunks that consist
/// of the fill value are not stored.
std::unique_ptr<ArraySink> create_hdf5_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options);
/// True if the pixel size is stored.
bool hdf5_array_keeps_pixel(const ArrayHeader& header);

/// JPEG as a frame of 8-bit samples, grey or RGB, baseline or progressive. The stored resolution is
/// meant for printing and is not used as pixel size.
///
/// Requires  an intact file: damaged or missing data, which libjpeg would fill with grey, throws
///           InvalidFile when its rows are read.
std::unique_ptr<FrameSource> open_jpeg_frame(const std::string& path, const std::string& detail,
                                             const SourceOptions& options);

/// MRC and CCP4 maps and stacks: modes 0 (i8, or u8 if IMOD's header states this), 1 (i16), 2
/// (f32), 6 (u16), 12 (f16) and 101 (4 bits, read as u8), in either byte order, with an extended
/// header of any length, compressed by gzip or bzip2 or not. One frame per section; by convention,
/// the first stored row is the bottom row. The pixel size is the cell size divided by the number of
/// intervals, in Å. Rows of mode 101 are padded to whole bytes.
///
/// Cost      compressed files: as for NIfTI.
/// Source    Cheng et al., MRC2014, J. Struct. Biol. 192 (2015), doi:10.1016/j.jsb.2015.04.002
std::unique_ptr<FrameSource> open_mrc(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// Writes mode 0, 1, 2, 6 or 12 as a stack, with minimum, maximum and mean marked as undetermined,
/// compressed by gzip if the extension is .gz. Pixel sizes in units of length are converted to Å.
std::unique_ptr<FrameSink> create_mrc(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options);

/// NIfTI-1 and NIfTI-2 in a single file, in either byte order, compressed by gzip or not: integers
/// of 8 to 64 bits, f32 and f64. The axes are columns, rows, slices, times and channels; as in TIFF
/// files, one channel of one slice is read, and slices are frames if there is only one time or if a
/// time is requested. Samples with a scale are read as f32, with a remark. The pixel size is that
/// of columns and rows. The orientation is passed on as `grid` if the frames are the slices; the
/// first stored row is not flipped.
///
/// Pairs of files (.hdr and .img), complex numbers and colours are refused.
///
/// Cost      compressed files: decompressed once, up to the last sample that is read, to a scratch
///           file (Spool) of no more bytes than the header states. Each source has its own,
///           unless the options state that of another.
/// Source    https://nifti.nimh.nih.gov/nifti-1, https://nifti.nimh.nih.gov/nifti-2
std::unique_ptr<FrameSource> open_nifti(const std::string& path, const std::string& detail,
                                        const SourceOptions& options);

/// Writes NIfTI-1, or NIfTI-2 if an axis is longer than 32767, compressed by gzip if the extension
/// is .gz. Slices are the third axis, and times the fourth. The header's grid is written if the
/// frames are slices; otherwise only the pixel size (in µm or mm if NIfTI does not have its unit),
/// with planes as far apart as columns, and the frame interval.
std::unique_ptr<FrameSink> create_nifti(const std::string& path, const FrameHeader& header,
                                        const SinkOptions& options);
bool nifti_keeps_pixel(const FrameHeader& header, const SinkOptions& options);

/// NumPy arrays of two or more axes: the last two are rows and columns, all others are frames.
/// Elements are integers of 8 to 64 bits, floats of 16 to 64 bits or bools, in C or Fortran order
/// and either byte order. The format has no pixel size and no names of axes.
///
/// Source    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::unique_ptr<FrameSource> open_npy(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// Writes an array in C order.
std::unique_ptr<ArraySink> create_npy_array(const std::string& path, ArrayHeader header,
                                            const SinkOptions& options);

/// Image series written by TIA (Emispec), with offsets of 32 or 64 bits: integers of 8 to 32 bits,
/// f32 and f64. The first stored row is the bottom row. The pixel size is given in m, also for
/// diffraction patterns, whose axes have another unit.
///
/// Requires  images of the shape and sample type of the first; others cause a remark, and
///           InvalidFile when read.
/// Cost      opening reads the header of every image.
std::unique_ptr<FrameSource> open_ser(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// TIFF and BigTIFF: one frame per page, in strips or tiles, in any compression that libtiff
/// supports; integers of 8 to 64 bits and floats of 16 to 64; grey or RGB, with or without alpha.
/// Reduced copies of pages and masks are skipped. Stacks that ImageJ stores after a single page are
/// read. Integers are inverted if 0 is white; palettes, which are for display, are not applied.
///
/// Channels and slices are read from the metadata of ImageJ, OME or tifffile; interleaved grey
/// samples that are not alpha are channels too. One channel of one slice is read. If a file has
/// slices but only one frame per slice, the slices are read as frames, unless a slice is requested.
/// The frame interval is read from the metadata of ImageJ or OME.
///
/// The pixel size is read from the metadata of ImageJ, OME or an instrument (tiff_instruments.hpp),
/// or else from a resolution in pixels per centimetre. A resolution in pixels per inch is meant for
/// printing and is not used.
///
/// Requires  pages of the shape and sample type of the first; others cause a remark, and
///           InvalidFile when read. Pages beyond the end of a truncated file are left out.
/// Cost      opening reads every page's directory. A row of tiles is held in memory.
std::unique_ptr<FrameSource> open_tiff(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);

/// Writes grey pages of integers of 8 to 32 bits or f32, uncompressed, one strip each, in the
/// layout of TiffLayout: for ImageJ if ImageJ can hold them, otherwise with OME-XML. Pixel size,
/// axis and frame interval are written; labels of frames only for ImageJ.
std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);
bool tiff_keeps_pixel(const FrameHeader& header, const SinkOptions& options);

/// Zarr versions 2 and 3: a folder that is an array or a group of arrays. An array has two or more
/// axes: the last two are rows and columns, all others are frames. Elements are integers of 8 to 64
/// bits, floats of 16 to 64 bits or bools, in either byte order. Axes may be in any order within
/// chunks, which are uncompressed or compressed by zlib (version 2), gzip, zstd or Blosc (blosclz,
/// lz4, lz4hc, zstd, zlib). In version 3, they may have checksums (crc32c), and be stored in shards
/// (sharding_indexed), of which only the index and the chunks needed are read. Missing chunks
/// consist of the fill value.
///
/// `detail` names an array, or a group: of this group, the first dataset of the multiscales of
/// OME-Zarr (the one of full resolution) is read, or else the only array. Pixel size, frame
/// interval and the axes for time, channels and slices are those of OME-Zarr 0.4 or 0.5. As in TIFF
/// files, one channel of one slice is read, and slices are frames if there is only one time.
///
/// Files outside the folder, to which symbolic links lead, are read only if allowed.
///
/// Cost      decoded samples of up to 256 MiB are kept, and each chunk is decoded once if frames
///           are read in order and the frames of a chunk's depth fit in this memory. Otherwise, a
///           chunk of n frames of which k fit is decoded n/k times, and one with more than 256 MiB
///           in its rows once per 256 MiB. A chunk that spans several positions on two axes of
///           frames is decoded once for each position on the slower axis. Chunks next to each other
///           in a row are decoded by several threads.
/// Source    https://zarr-specs.readthedocs.io/en/latest/specs.html,
///           https://ngff.openmicroscopy.org
std::unique_ptr<FrameSource> open_zarr(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);

/// Writes a group of OME-Zarr 0.5, or 0.4 in Zarr version 2, with one array "0": (frames, rows,
/// columns), or (rows, columns) for one frame, in chunks of up to 64 frames and 4 MiB, compressed
/// by zstd at level 1. In version 3, several chunks are a shard of up to 64 MiB, of the same depth.
/// Chunks of zeros are not written. Pixel size, axis and frame interval are written. The folder
/// appears whole or not at all. A store that is already at `path` is replaced, unless it has
/// entries that do not belong to Zarr.
///
/// Cost      up to 256 MiB of samples are held, or one row of chunks of a frame, and the compressed
///           bytes of a row of shards.
std::unique_ptr<FrameSink> create_zarr(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);
/// The same, in parts: layers of chunks.
std::unique_ptr<FrameParts> create_zarr_parts(const std::string& path, const FrameHeader& header,
                                              const SinkOptions& options);
/// Throws InvalidFile if create_zarr could not create or replace a folder at `path` now.
void require_writable_zarr(const std::string& path);

/// An array of a Zarr store. Up to `cache` bytes of decoded chunks are kept, those used last;
/// chunks that are not stored cost nothing. The names of axes are those of OME-Zarr, or else those
/// of dimensions.
std::unique_ptr<ArraySource> open_zarr_array(const std::string& path, const std::string& detail,
                                             const SourceOptions& options, Bytes cache);
/// Writes a group with one array "0", compressed by zstd at level 1, with chunks of `header.chunk`
/// in files of their own. Chunks that consist of the fill value are not stored. Axes that OME-Zarr
/// defines (t, c, z, y and x, in this order) are described by its metadata; all names are names of
/// dimensions too (dimension_names; _ARRAY_DIMENSIONS in version 2).
std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options);
/// True if the pixel size is stored.
bool zarr_array_keeps_pixel(const ArrayHeader& header);

} // namespace sextant::format
