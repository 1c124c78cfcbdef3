// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The description of a file format in the catalogue, and the options for reading and writing.

namespace sextant::format {

/// The header of an image file, read without its pixels.
struct ImageHeader {
    ImageShape shape;
    /// rgba_f32, rgba_depth_f32 if the file has a depth channel, or deep_f32 if the file is deep
    /// (read_deep).
    ElementFormat element;
    bool operator==(const ImageHeader&) const = default;
};

/// An image file format: an entry of the catalogue.
struct Format {
    std::string_view name;      ///< such as "OpenEXR"
    std::string_view extension; ///< such as ".exr", in upper or lower case
    std::string_view summary;
    /// Throws InvalidFile with the path, what was found and what was expected.
    ImageHeader (*read_header)(const std::string& path);
    /// Reads the pixels into `to`, premultiplied, top row first. `to` has shape.elements() elements
    /// of the header's format; otherwise throws std::logic_error. Throws InvalidFile if the file is
    /// damaged or no longer matches `header`; the contents of `to` are then unspecified.
    void (*read_pixels)(const std::string& path, const ImageHeader& header,
                        std::span<std::byte> to);
    /// Writes a temporary file and renames it. If writing fails, no file is left behind and an
    /// existing file stays intact. Throws InvalidFile. Null if the format is read-only.
    void (*write)(const std::string& path, const Image& image);
    bool halves = false; ///< true if `write` also accepts rgba_f16
    /// True if values are encoded for display (sRGB), false if they are linear.
    bool for_display = false;
    /// As `read_pixels` and `write`, but for deep images; null if the format cannot hold deep
    /// images.
    DeepImage (*read_deep)(const std::string& path) = nullptr;
    void (*write_deep)(const std::string& path, const DeepImage& image) = nullptr;
};

/// Returns all formats, in the order of `sextant list`.
std::span<const Format> catalogue();

/// Returns the format with the path's extension. If there is none, throws InvalidFile, which lists
/// the known extensions.
const Format& format_of(const std::string& path);

/// True if a path ends in an extension such as ".exr", in upper or lower case.
bool has_extension(std::string_view path, std::string_view extension);

// Series of frames, and arrays with any number of axes.

/// The meaning of the axis of frames.
enum class StackAxis { time, slices };

/// An axis of planes, named t, z or c.
struct PlaneAxis {
    char letter = 't';
    std::int64_t length = 1;
};

/// Options for writing frames, used by formats with named axes.
struct SinkOptions {
    StackAxis axis = StackAxis::time;
    /// One label per frame, such as "frame 17"; empty if there are none. TIFF files for ImageJ
    /// store them as slice labels; other files do not store them.
    std::vector<std::string> labels = {};
    bool label_image = false; ///< samples are labels, which must not be averaged
    /// The axes of planes, such as t, z and c, from the slowest to the fastest, if planes have
    /// several axes. Only TIFF files store them.
    std::vector<PlaneAxis> planes = {};
    bool pyramid = false; ///< also write reduced levels (OME-Zarr); other formats throw
    int zarr_version = 3; ///< version of the Zarr format: 2 (with OME-Zarr 0.4) or 3 (0.5)
};

/// Options for reading frames.
struct SourceOptions {
    std::optional<std::int64_t> channel = {}, slice = {}; ///< from 0; default: the first
    /// True if samples may be read from other files that the file refers to (HDF5, Zarr).
    bool allow_external = false;
    /// The time, counted from 0, whose slices are read as frames. Must not be combined with
    /// `slice`.
    std::optional<std::int64_t> time = {};
    /// The names of the axes if the file states none (NPY, HDF5, Zarr): one letter of "TCZYX" per
    /// axis, in upper or lower case. Rows are Y, and columns X.
    std::string axes = {};
    /// The decompressed copy of another source of the same series (FrameSource::share). It is read
    /// instead of the file if it still exists.
    ScratchPlace copy = {};
    /// True to read all planes of all channels, slices and times as frames. The frames are in C
    /// order of `axes` in the header, whose last two axes are rows and columns. Options that choose
    /// planes are then ignored.
    bool every_plane = false;
    /// The memory for decoded chunks, in addition to those of a plane, if every plane is read
    /// (HDF5, Zarr); 0 for a usual amount.
    Bytes cache = 0;
    /// The part of the file that is read, such as a dataset: the text after "::" in the name of a
    /// series, from which open_frames() sets it.
    std::string detail = {};
};

/// A series of frames that is written in independent parts, in any order, by several processes or
/// by a run that resumes after an interruption. The series appears at its path when it is complete.
/// All functions throw InvalidFile.
class FrameParts {
  public:
    virtual ~FrameParts() = default;
    FrameParts(const FrameParts&) = delete;
    FrameParts& operator=(const FrameParts&) = delete;

    /// The number of frames per part. Each part begins at a multiple of this number.
    virtual std::int64_t frames_per_part() const = 0;
    /// Creates a folder for the parts, next to the path of the series. One process calls this
    /// before any process calls other functions. Existing parts are kept.
    virtual void create(const std::string& folder) = 0;
    /// Returns a sink for the frames from `first` to `first` + `count` - 1. The caller commits the
    /// sink after writing all frames. Each part is stored as soon as its last frame is written.
    virtual std::unique_ptr<FrameSink> part(const std::string& folder, std::int64_t first,
                                            std::int64_t count) = 0;
    /// Makes the series appear at its path. All parts must be complete.
    virtual void commit(const std::string& folder) = 0;

  protected:
    FrameParts() = default;
};

/// A file format for grey or colour frames, or for arrays with any number of axes: an entry of the
/// catalogue.
struct FrameFormat {
    std::string_view name;       ///< such as "TIFF"
    std::string_view extensions; ///< such as ".tif .tiff", in upper or lower case
    std::string_view summary;
    /// Opens a series, which is a view of an array; with SourceOptions::every_plane, of the array
    /// with all its axes. Reads only the header. Throws InvalidFile with the path, what was found
    /// and what was expected. Formats without named axes ignore the channel, slice, time and axes
    /// in the options.
    std::unique_ptr<FrameSource> (*open)(const std::string& path,
                                         const SourceOptions& options) = nullptr;
    /// Creates a sink for `header.frames` grey frames of a sample type in `written`. Throws
    /// InvalidFile if the file cannot be created. Null if the format is read-only, or if
    /// `create_array` writes the series.
    std::unique_ptr<FrameSink> (*create)(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) = nullptr;
    std::string_view written = {}; ///< writable sample types: "u8 u16 f32", "any" or none
    /// Creates an array with any number of axes. Null if the format writes arrays as planes, by
    /// `create`.
    std::unique_ptr<ArraySink> (*create_array)(const std::string& path, ArrayHeader header,
                                               const SinkOptions& options) = nullptr;
    bool has_parts = false;  ///< true if `open` reads SourceOptions::detail
    bool plane_axes = false; ///< true if `create` stores planes of the axes t, z and c
    /// For formats that store a series in a folder: throws InvalidFile if the folder could not be
    /// created or replaced now. Null for formats that store a series in a file.
    void (*require_writable)(const std::string& path) = nullptr;
    /// As `create`, but in parts. Writes nothing before FrameParts::create. Null for formats that
    /// must be written in order.
    std::unique_ptr<FrameParts> (*create_parts)(const std::string& path, const FrameHeader& header,
                                                const SinkOptions& options) = nullptr;
    bool has_pyramids = false; ///< true if `create` can write levels of reduced resolution
    /// True if a file written by `create` or `create_array` would store the pixel size of the
    /// header. Null if the format stores all pixel sizes, or none.
    bool (*keeps_pixel)(const FrameHeader& header, const SinkOptions& options) = nullptr;
    bool (*array_keeps_pixel)(const ArrayHeader& header) = nullptr;

    bool is_folder() const { return require_writable != nullptr; }
    bool holds(Sample sample) const; ///< true if frames of this type can be written
};

/// Returns all frame formats, in the order of `sextant list formats`.
std::span<const FrameFormat> frame_catalogue();

/// Returns the format with the path's extension, or null if there is none.
const FrameFormat* find_frame_format(const std::string& path);

/// Splits axis names, which are letters ("TYXE") or words separated by commas ("t,y,x,ky,kx"), and
/// returns them in lower case. Each name must be a letter followed by letters, digits, '_' or '-',
/// and all names must differ; otherwise throws InvalidTask for the array named `path`.
std::vector<std::string> parse_axis_names(const std::string& path, std::string_view text);

/// True if all axis names are letters of "TCZYX", so that a FrameSource can choose frames by them.
bool are_plane_axes(std::string_view text);

} // namespace sextant::format
