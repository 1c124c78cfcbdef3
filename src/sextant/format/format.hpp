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

// What a format of files declares in the catalogue, and the options of reading and writing.

namespace sextant::format {

/// The header of an image file, read without its pixels.
struct ImageHeader {
    ImageShape shape;
    /// rgba_f32; rgba_depth_f32 if the file has a depth channel; deep_f32 if it is deep
    /// (read_deep).
    ElementFormat element;
    bool operator==(const ImageHeader&) const = default;
};

/// An image file format: a row of the catalogue.
struct Format {
    std::string_view name;      ///< such as "OpenEXR"
    std::string_view extension; ///< such as ".exr", in upper or lower case
    std::string_view summary;
    /// Throws InvalidFile with the path, what was found and what was expected.
    ImageHeader (*read_header)(const std::string& path);
    /// Reads the pixels, premultiplied, top row first, into `to` (shape.elements() elements of the
    /// header's format). Throws InvalidFile if the file is damaged or no longer matches `header`;
    /// the contents of `to` are then unspecified. Throws std::logic_error if `to` has the wrong
    /// size.
    void (*read_pixels)(const std::string& path, const ImageHeader& header,
                        std::span<std::byte> to);
    /// Writes a temporary file and renames it, so that a failure leaves nothing behind and an
    /// existing file intact. Throws InvalidFile. Null if the format is read-only.
    void (*write)(const std::string& path, const Image& image);
    bool halves = false; ///< true if `write` also accepts rgba_f16
    /// True if values are encoded for display (sRGB), false if they are linear.
    bool for_display = false;
    /// Read and write deep images in the same way; null if the format cannot hold them.
    DeepImage (*read_deep)(const std::string& path) = nullptr;
    void (*write_deep)(const std::string& path, const DeepImage& image) = nullptr;
};

/// Returns all formats, in the order of `sextant list`.
std::span<const Format> catalogue();

/// Returns the format for a path's extension. If there is none, throws InvalidFile that lists the
/// known extensions.
const Format& format_of(const std::string& path);

/// True if a path ends in an extension such as ".exr", in upper or lower case.
bool has_extension(std::string_view path, std::string_view extension);

// Series of frames, and arrays of any axes.

/// The axis along which frames follow one another.
enum class StackAxis { time, slices };

/// An axis of planes: one of the letters t, z and c.
struct PlaneAxis {
    char letter = 't';
    std::int64_t length = 1;
};

/// Options for writing frames, used by formats that name their axes.
struct SinkOptions {
    StackAxis axis = StackAxis::time;
    /// A label for each frame, such as "frame 17"; empty for none. TIFF files for ImageJ show them
    /// as slice labels; other files do not store them.
    std::vector<std::string> labels = {};
    bool label_image = false; ///< samples are labels of components or regions: they have no mean
    /// The axes of planes from the slowest to the fastest, such as t, z and c, if planes are not
    /// only frames of one axis; TIFF files store them.
    std::vector<PlaneAxis> planes = {};
    bool pyramid = false; ///< also write levels of half the resolution (OME-Zarr); others refuse it
    int zarr_version = 3; ///< of Zarr's format, 2 or 3, with OME-Zarr 0.4 or 0.5
};

/// The planes of a hyperstack to read.
struct SourceOptions {
    std::optional<std::int64_t> channel = {}, slice = {}; ///< counted from 0; default: the first
    /// True if samples may be read from any other file to which the series refers (HDF5, Zarr).
    bool allow_external = false;
    /// Reads the slices at this time, counted from 0, as frames; not together with a slice.
    std::optional<std::int64_t> time = {};
    /// The names of the axes of an array that has none (NPY, HDF5, Zarr): a letter of "TCZYX" per
    /// axis, in upper or lower case. Rows are Y, and columns X.
    std::string axes = {};
    /// The decompressed copy that another source of the same series has (FrameSource::share), which
    /// is read if it is found.
    ScratchPlace copy = {};
    /// Reads the planes of all channels, slices and times as frames, in C order of `axes` in the
    /// header, whose last two axes are then rows and columns; the other options choose nothing.
    bool every_plane = false;
};

/// A series of frames that is written in parts, independently and in any order: by several
/// processes, or by one that was interrupted. It appears at its path when it is complete. All
/// functions throw InvalidFile.
class FrameParts {
  public:
    virtual ~FrameParts() = default;
    FrameParts(const FrameParts&) = delete;
    FrameParts& operator=(const FrameParts&) = delete;

    /// Parts begin at multiples of this number of frames.
    virtual std::int64_t frames_per_part() const = 0;
    /// Creates a folder for the parts, next to the series' path; one process does this, before all
    /// others use it. Parts that are there already are kept.
    virtual void create(const std::string& folder) = 0;
    /// A sink for `count` frames from `first` on, to be committed when all are written. Each part
    /// of them is stored when its last frame is written.
    virtual std::unique_ptr<FrameSink> part(const std::string& folder, std::int64_t first,
                                            std::int64_t count) = 0;
    /// Makes the series of all parts appear at its path.
    virtual void commit(const std::string& folder) = 0;

  protected:
    FrameParts() = default;
};

/// A file format for one or more grey or colour frames, or for arrays of any axes: a row of the
/// catalogue.
struct FrameFormat {
    std::string_view name;       ///< such as "TIFF"
    std::string_view extensions; ///< such as ".tif .tiff", in upper or lower case
    std::string_view summary;
    /// Reads only the header. `detail` is the text after "::", or "". Throws InvalidFile with the
    /// path, what was found and what was expected. Formats without named axes ignore the channel,
    /// slice, time and axes of the options.
    std::unique_ptr<FrameSource> (*open)(const std::string& path, const std::string& detail,
                                         const SourceOptions& options) = nullptr;
    /// Creates a sink for `header.frames` frames of grey samples, of a type in `written`. Throws
    /// InvalidFile if the file cannot be created. Null if the format is read-only, or if series are
    /// written as arrays, by `create_array`.
    std::unique_ptr<FrameSink> (*create)(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) = nullptr;
    std::string_view written = {}; ///< sample types that are written: "u8 u16 f32", "any" or none
    /// Open and create arrays of any axes; see open_array(). Null if arrays are read or written as
    /// planes, by `open` and `create`.
    std::unique_ptr<ArraySource> (*open_array)(const std::string& path, const std::string& detail,
                                               const SourceOptions& options, Bytes cache) = nullptr;
    std::unique_ptr<ArraySink> (*create_array)(const std::string& path, ArrayHeader header,
                                               const SinkOptions& options) = nullptr;
    bool plane_axes = false; ///< true if `create` stores planes of the axes t, z and c
    /// For formats that store a series in a folder: throws InvalidFile if the folder could not be
    /// created or replaced now. Null for formats that store it in a file.
    void (*require_writable)(const std::string& path) = nullptr;
    /// The same as `create`, in parts. Nothing is written before FrameParts::create. Null for
    /// formats that are written in order.
    std::unique_ptr<FrameParts> (*create_parts)(const std::string& path, const FrameHeader& header,
                                                const SinkOptions& options) = nullptr;
    bool has_pyramids = false; ///< true if `create` can write levels of half the resolution
    /// True if a file that `create` or `create_array` writes states the pixel size of the header.
    /// Null if the format keeps every pixel size, or none.
    bool (*keeps_pixel)(const FrameHeader& header, const SinkOptions& options) = nullptr;
    bool (*array_keeps_pixel)(const ArrayHeader& header) = nullptr;

    bool is_folder() const { return require_writable != nullptr; }
    bool holds(Sample sample) const; ///< true if frames of this type can be written
};

/// Returns all frame formats, in the order of `sextant list formats`.
std::span<const FrameFormat> frame_catalogue();

/// Returns the format for a path's extension, or null if there is none.
const FrameFormat* find_frame_format(const std::string& path);

/// Splits names of axes: a letter each ("TYXE"), or names separated by commas ("t,y,x,ky,kx").
/// Returns them in lower case. Throws InvalidTask, for the array named `path`, unless each is a
/// letter followed by letters, digits, '_' or '-', and all differ.
std::vector<std::string> parse_axis_names(const std::string& path, std::string_view text);

/// True if frames with these axes can be chosen by a FrameSource: letters of "TCZYX".
bool are_plane_axes(std::string_view text);

} // namespace sextant::format
