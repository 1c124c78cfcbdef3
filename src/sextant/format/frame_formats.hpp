// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// Gatan DigitalMicrograph, DM3 and DM4: the largest image of the file that is of integers of 8 to
/// 32 bits, f32 or f64 (its thumbnails are in colour). Axes behind columns and rows are frames. The
/// pixel size is the image's calibration.
std::unique_ptr<FrameSource> open_dm(const std::string& path, const std::string& detail,
                                     const SourceOptions& options);

/// HDF5, with images as microscopes and their programs put them there: Velox EMD (rows, columns,
/// frames), Berkeley EMD and HyperSpy (frames, rows, columns), with their pixel sizes; or any
/// dataset of integers or floats of two axes and more, of which the last two are rows and columns.
/// `detail` names a dataset; without it the largest of the first of these kinds is taken, and the
/// others are remarked on.
///
/// A process of its own reads (read_apart.hpp): libhdf5 can crash on files whose inner tables are
/// damaged. This is then an InvalidFile as all else.
///
/// Other files that it names are read only if that is allowed, but for the sources of a virtual
/// dataset in the folder of the file or below it.
///
/// Cost      chunks are decoded once for rows that are read in order, if those of a frame fit in
///           256 MiB or eight times what is stored.
std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);

/// JPEG as a frame of 8-bit samples, grey or RGB, baseline or progressive. Its resolution is meant
/// for printing and is not taken for a pixel size.
///
/// Requires  an intact file: damaged or missing data, which the library would fill up with grey, is
///           InvalidFile where its rows are read.
std::unique_ptr<FrameSource> open_jpeg_frame(const std::string& path, const std::string& detail,
                                             const SourceOptions& options);

/// MRC and CCP4 maps and stacks: modes 0 (i8, or u8 where IMOD says so), 1 (i16), 2 (f32), 6 (u16)
/// and 12 (f16), of either byte order, with an extended header of any length. A frame a section;
/// the row that is stored first is the lowest by custom. The pixel size is the cell over its
/// intervals, in Å.
///
/// Source    Cheng et al., MRC2014, J. Struct. Biol. 192 (2015), doi:10.1016/j.jsb.2015.04.002
std::unique_ptr<FrameSource> open_mrc(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// Mode 0, 1, 2, 6 or 12, as a stack, with minimum, maximum and mean marked as not determined.
/// Pixel sizes of a length are converted to Å.
std::unique_ptr<FrameSink> create_mrc(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options);

/// NumPy's arrays of two axes (rows, columns) or more (the others before them are frames), of
/// integers of 8 to 64 bits, floats of 16 to 64 or bools; in C or Fortran order and either byte
/// order. The format has no pixel size.
///
/// Source    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::unique_ptr<FrameSource> open_npy(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// An array (frames, rows, columns), of one frame (rows, columns), of any sample, in C order.
std::unique_ptr<FrameSink> create_npy(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options);

/// Series of images that TIA (Emispec) writes, with offsets of 32 or 64 bits: integers of 8 to 32
/// bits, f32 and f64. The row that is stored first is the lowest. The pixel size is in m, of
/// diffraction patterns in what their axes count.
///
/// Requires  that all images have the shape and samples of the first; another one is a remark, and
///           InvalidFile where it is read.
/// Cost      opening reads the header of every image.
std::unique_ptr<FrameSource> open_ser(const std::string& path, const std::string& detail,
                                      const SourceOptions& options);

/// TIFF and BigTIFF: a frame a page, in strips or tiles, of any compression that libtiff knows;
/// integers of 8 to 64 bits and floats of 16 to 64; grey or RGB, with alpha or without. Reduced
/// copies of pages and masks are passed over. A stack that ImageJ keeps behind a single page is
/// read too. Integers are inverted where 0 is white; palettes are for display and are not applied.
///
/// Channels and slices are those of ImageJ, of OME, or of tifffile's note of its axes; grey samples
/// side by side that are not alpha are channels too. One channel of one slice is read. Slices
/// without other frames are the frames, unless one is asked for. The frame interval is ImageJ's or
/// OME's.
///
/// The pixel size is that of ImageJ or OME, or else a resolution in centimetres; one in inches is
/// meant for printing and is not taken.
///
/// Requires  that all pages have the shape and samples of the first: another one is a remark, and
///           InvalidFile where it is read. Pages that the file is too short for are left out.
/// Cost      opening reads every page's directory. A row of a tiled page keeps its row of tiles.
std::unique_ptr<FrameSource> open_tiff(const std::string& path, const std::string& detail,
                                       const SourceOptions& options);

/// Grey pages of u8, u16, u32 or f32, uncompressed, a strip each, laid out by TiffLayout: as ImageJ
/// writes and reads them where it can hold them, otherwise described in OME-XML. Pixel size, axis
/// and frame interval are written.
std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options);

} // namespace sextant::format
