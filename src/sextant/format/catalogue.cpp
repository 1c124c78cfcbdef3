// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/catalogue.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/exr.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/png.hpp"
#include "sextant/format/raw.hpp"
#include "sextant/format/sequence.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

constexpr std::array formats{
    Format{"OpenEXR", ".exr",
           "premultiplied half or float RGBA, linear by convention, with depth if there is a Z "
           "channel; deep images",
           read_exr_header, read_exr, write_exr, true, false, read_exr_deep, write_exr_deep},
    Format{"PNG", ".png",
           "8 or 16 bits per channel, straight alpha, values as stored (sRGB by convention); "
           "written as 8 bits",
           read_png_header, read_png, write_png, false, true},
    Format{"raw RGBA", ".rgba32f",
           "little-endian floats; manifest.json in the same folder states the shape",
           read_raw_header, read_raw, write_raw},
    Format{"raw RGBA+depth", ".rgbaz32f", "raw RGBA with a depth after each colour",
           read_raw_header, read_raw, write_raw},
    Format{"zstd", ".zst", "one of the raw formats, compressed", read_raw_header, read_raw,
           write_raw},
};

std::string known_extensions() {
    std::string known;
    for (const Format& format : formats) {
        known += (known.empty() ? "" : ", ") + std::string(format.extension);
    }
    return known;
}

} // namespace

std::span<const Format> catalogue() {
    return formats;
}

bool has_extension(std::string_view path, std::string_view extension) {
    const auto same = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    };
    return path.size() > extension.size() &&
           std::equal(extension.begin(), extension.end(), path.end() - extension.size(), same);
}

const Format& format_of(const std::string& path) {
    for (const Format& format : formats) {
        if (has_extension(path, format.extension))
            return format;
    }
    const std::string extension = std::filesystem::path(path).extension().string();
    throw InvalidFile(
        path,
        fmt::format("is not in a known image format: its extension is \"{}\", expected one of {}",
                    extension, known_extensions()));
}

ImageHeader read_header(const std::string& path) {
    return format_of(path).read_header(path);
}

void read_pixels(const std::string& path, const ImageHeader& header, std::span<std::byte> to) {
    format_of(path).read_pixels(path, header, to);
}

Image read_image(const std::string& path) {
    const Format& format = format_of(path);
    const ImageHeader header = format.read_header(path);
    try {
        Image image(header.shape, header.element);
        format.read_pixels(path, header, image.bytes());
        return image;
    } catch (const std::bad_alloc&) {
        throw InvalidFile(
            path, fmt::format("needs {} bytes for its {}×{} pixels, more memory than available",
                              header.shape.elements() * header.element.size, header.shape.width,
                              header.shape.height));
    }
}

void write_image(const std::string& path, const Image& image) {
    const Format& format = format_of(path);
    if (!format.write) {
        throw InvalidFile(path, fmt::format("{} files can only be read", format.name));
    }
    format.write(path, image);
}

namespace {

const Format& deep_format_of(const std::string& path) {
    const Format& format = format_of(path);
    if (!format.read_deep)
        throw InvalidFile(path, fmt::format("{} files cannot hold deep images", format.name));
    return format;
}

void require_faultless(const std::string& path, const DeepImage& image) {
    const std::string fault = fault_of(image);
    if (!fault.empty())
        throw InvalidFile(path, fault);
}

} // namespace

DeepImage read_deep(const std::string& path) {
    DeepImage image = deep_format_of(path).read_deep(path);
    require_faultless(path, image);
    return image;
}

void write_deep(const std::string& path, const DeepImage& image) {
    const Format& format = deep_format_of(path);
    require_faultless(path, image);
    format.write_deep(path, image);
}

namespace {

[[noreturn]] void refuse_writing(const std::string& path) {
    throw InvalidFile(path, "can only be read; Zarr arrays are written with the extension .zarr");
}

bool keeps_lengths(const FrameHeader& header, const SinkOptions&) {
    return metres_of(header.pixel.unit) > 0;
}

constexpr std::array frame_formats{
    FrameFormat{.name = "TIFF",
                .extensions = ".tif .tiff .btf",
                .summary =
                    "stacks, BigTIFF, strips or tiles, integers and floats; ImageJ and OME axes",
                .open = open_tiff,
                .create = create_tiff,
                .written = "u8 i8 u16 i16 u32 i32 f32",
                .plane_axes = true,
                .keeps_pixel = tiff_keeps_pixel},
    FrameFormat{
        .name = "MRC",
        .extensions =
            ".mrc .mrcs .map .st .ali .rec .ccp4 .mrc.gz .mrcs.gz .map.gz .mrc.bz2 .mrcs.bz2 "
            ".map.bz2",
        .summary =
            "stacks and volumes, modes 0, 1, 2, 6, 12, 101, both byte orders, compressed or not",
        .open = open_mrc,
        .create = create_mrc,
        .written = "i8 i16 u16 f16 f32",
        .keeps_pixel = keeps_lengths},
    FrameFormat{.name = "DigitalMicrograph",
                .extensions = ".dm3 .dm4",
                .summary = "the largest image; further axes are frames",
                .open = open_dm},
    FrameFormat{.name = "SER",
                .extensions = ".ser",
                .summary = "series of images written by TIA",
                .open = open_ser},
    FrameFormat{.name = "NPY",
                .extensions = ".npy",
                .summary = "NumPy arrays: frames, rows, columns, in any order",
                .open = open_npy,
                .written = "any",
                .create_array = create_npy_array},
    FrameFormat{.name = "NIfTI",
                .extensions = ".nii .nii.gz",
                .summary = "volumes and series of volumes, versions 1 and 2, compressed or not",
                .open = open_nifti,
                .create = create_nifti,
                .written = "u8 i8 u16 i16 u32 i32 u64 i64 f32 f64",
                .keeps_pixel = nifti_keeps_pixel},
    FrameFormat{.name = "HDF5",
                .extensions = ".h5 .hdf5",
                .summary = "Velox and Berkeley EMD, HyperSpy, or a dataset: movie.h5::/images",
                .open = open_hdf5,
                .create = create_hdf5,
                .written = "any",
                .create_array = create_hdf5_array,
                .has_parts = true,
                .keeps_pixel = keeps_lengths,
                .array_keeps_pixel = hdf5_array_keeps_pixel},
    FrameFormat{.name = "EMD, HyperSpy, NeXus",
                .extensions = ".emd .hspy .nxs",
                .summary = "HDF5 files written by microscopes and their software",
                .open = open_hdf5,
                .has_parts = true},
    FrameFormat{.name = "Zarr",
                .extensions = ".zarr",
                .summary = "versions 2 and 3, OME-Zarr, or an array in a group: volume.zarr::0",
                .open = open_zarr,
                .create = create_zarr,
                .written = "any",
                .create_array = create_zarr_array,
                .has_parts = true,
                .require_writable = require_writable_zarr,
                .create_parts = create_zarr_parts,
                .has_pyramids = true,
                .array_keeps_pixel = zarr_array_keeps_pixel},
    FrameFormat{.name = "HyperSpy Zarr",
                .extensions = ".zspy",
                .summary = "HyperSpy signals in a Zarr store",
                .open = open_zarr,
                .has_parts = true,
                .require_writable = refuse_writing},
    FrameFormat{.name = "PNG",
                .extensions = ".png",
                .summary = "one frame, grey or colour, 8 or 16 bits",
                .open = open_png_frame,
                .create = create_png_frame,
                .written = "u8 u16"},
    FrameFormat{.name = "JPEG",
                .extensions = ".jpg .jpeg",
                .summary = "one frame, grey or colour",
                .open = open_jpeg_frame},
    FrameFormat{.name = "headerless",
                .extensions = ".raw .bin",
                .summary = "raw samples; the layout follows the file name: movie.raw::512x512,u16",
                .open = open_headerless,
                .has_parts = true},
};

/// Calls `visit` with each word of a text until a call returns true. Returns true if one did.
template <class Visit>
bool any_word(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (visit(text.substr(0, end)))
            return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

const FrameFormat& known_format(const std::string& path) {
    if (const FrameFormat* const format = find_frame_format(path))
        return *format;
    if (has_extension(path, ".hdr") || has_extension(path, ".img"))
        throw InvalidFile(path, "may be one of a pair of NIfTI or Analyze files, which are not "
                                "supported, expected a single NIfTI file (.nii)");
    std::string known;
    for (const FrameFormat& format : frame_formats)
        known += fmt::format("{}{}", known.empty() ? "" : " ", format.extensions);
    const std::string extension = std::filesystem::path(path).extension().string();
    throw InvalidFile(
        path,
        fmt::format("is not in a known frame format: its extension is \"{}\", expected one of {}",
                    extension, known));
}

std::unique_ptr<FrameSource> open_named(const std::string& name, SourceOptions options) {
    const SeriesName parts = split_series_name(name);
    options.detail = parts.detail;
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return open_sequence(name, std::move(*files), options);
    }
    std::error_code unknown; // reports a missing file rather than an unknown extension
    if (!find_frame_format(parts.path) && !parts.path.empty() &&
        !std::filesystem::exists(parts.path, unknown))
        throw InvalidFile(parts.path, "no such file");
    const FrameFormat& format = known_format(parts.path);
    if (!format.has_parts && !parts.detail.empty())
        throw InvalidFile(parts.path, fmt::format("the format has no named parts, but \"::{}\" "
                                                  "follows the file name",
                                                  parts.detail));
    return format.open(parts.path, options);
}

/// Throws InvalidFile unless there is at least one frame, the sides are positive, the total size
/// does not overflow, and the format can hold the sample type.
void check_sink(const std::string& path, const FrameHeader& header, const FrameFormat& format) {
    if (header.frames < 1 || header.shape.width < 1 || header.shape.height < 1)
        throw InvalidFile(path, fmt::format("cannot hold {} frames of {}, expected at least one "
                                            "with positive sides",
                                            header.frames, to_text(header.shape)));
    if (!format.holds(header.sample)) {
        std::vector<std::string_view> held;
        any_word(format.written, [&](std::string_view word) {
            held.push_back(word);
            return false;
        });
        throw InvalidFile(path, fmt::format("cannot hold samples of {}, expected one of {}",
                                            name(header.sample), fmt::join(held, ", ")));
    }
    checked_frames(path, header);
}

/// Throws InvalidFile unless the requested channel or slice is the one that is read. Formats
/// without named axes have only one channel and one slice.
void require_plane(const std::string& name, std::string_view axis, std::int64_t wanted,
                   std::int64_t read) {
    if (wanted != read)
        throw InvalidFile(name,
                          fmt::format("has no {0} {1}, expected {0} {2}", axis, wanted, read));
}

} // namespace

bool FrameFormat::holds(Sample sample) const {
    return any_word(written, [&](std::string_view word) {
        return word == "any" || word == sextant::name(sample);
    });
}

SeriesName split_series_name(const std::string& name) {
    const std::size_t at = name.rfind("::");
    std::error_code unknown;
    if (at == std::string::npos || std::filesystem::exists(name, unknown))
        return {name, ""};
    return {name.substr(0, at), name.substr(at + 2)};
}

std::span<const FrameFormat> frame_catalogue() {
    return frame_formats;
}

const FrameFormat* find_frame_format(const std::string& path) {
    const std::string_view whole = path, folder = whole.substr(0, whole.find_last_not_of('/') + 1);
    for (const FrameFormat& format : frame_formats) {
        if (any_word(format.extensions, [&](std::string_view extension) {
                return has_extension(format.is_folder() ? folder : whole, extension);
            }))
            return &format;
    }
    return nullptr;
}

std::unique_ptr<FrameSource> open_frames(const std::string& name, const SourceOptions& options) {
    if (options.time && options.slice)
        throw InvalidTask(fmt::format("{}: both a time, whose slices are read as frames, and a "
                                      "slice were requested, expected one of them",
                                      name));
    auto source = open_named(name, options);
    if (options.every_plane && !source->header().axes.lengths.empty())
        return source;
    if (!options.axes.empty() && source->header().axes.names.empty())
        throw InvalidTask(fmt::format(
            "axes {}: {} is not an NPY, HDF5 or Zarr array; only the axes of these can be named",
            printable(options.axes), name));
    const Hyperstack& read = source->header().hyperstack;
    if (options.time && source->header().frames == 1 && read.times == 1 &&
        source->header().axes.names.find('t') == std::string::npos)
        throw InvalidTask(fmt::format("time {}: {} is an image, which has no times or slices",
                                      *options.time, name));
    require_plane(name, "time", options.time.value_or(0), read.time);
    require_plane(name, "channel", options.channel.value_or(0), read.channel);
    require_plane(name, "slice", options.slice.value_or(0), read.slice);
    return source;
}

std::vector<std::string> files_of_frames(const std::string& name) {
    const SeriesName parts = split_series_name(name);
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return std::move(files->paths);
    }
    return {parts.path};
}

std::string format_of_frames(const std::string& name) {
    const SeriesName parts = split_series_name(name);
    if (const auto files = find_frame_files(parts.path))
        return fmt::format("{} files", known_format(files->paths.front()).name);
    return std::string(known_format(parts.path).name);
}

std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) {
    const FrameFormat& format = known_format(path);
    if (format.written.empty())
        throw InvalidFile(path, fmt::format("{} files can only be read", format.name));
    if (options.pyramid && !format.has_pyramids)
        throw InvalidTask(fmt::format(
            "{}: {} files cannot hold a pyramid (levels of lower resolution), expected .zarr", path,
            format.name));
    check_sink(path, header, format);
    if (format.create)
        return format.create(path, header, options);
    return std::make_unique<FrameSink>(
        format.create_array(path, series_array(header, options.axis), options), header);
}

std::string remark_on_lost_pixel(const std::string& path, const FrameHeader& header,
                                 const SinkOptions& options) {
    const FrameFormat* const format = find_frame_format(path);
    if (!header.pixel.known() || !format || !format->keeps_pixel ||
        format->keeps_pixel(header, options))
        return "";
    const std::string& unit = header.pixel.unit;
    return fmt::format("{}: the pixel size of {:.6g}{} is not stored: this format stores it only "
                       "with a unit of length",
                       path, header.pixel.x, unit.empty() ? " without a unit" : " " + unit);
}

std::unique_ptr<FrameParts> create_frame_parts(const std::string& path, const FrameHeader& header,
                                               const SinkOptions& options) {
    const FrameFormat* const format = find_frame_format(path);
    if (!format || !format->create_parts)
        return nullptr;
    check_sink(path, header, *format);
    return format->create_parts(path, header, options);
}

void require_writable_output(const std::string& path) {
    const FrameFormat* const format = find_frame_format(path);
    if (format && format->is_folder())
        format->require_writable(path);
    else
        require_writable(path);
}

namespace {

/// An array of planes with the axes y and x as a series of frames, and the options that describe
/// its other axes.
struct Planes {
    FrameHeader header;
    SinkOptions options;
};

Planes planes_of(const std::string& path, const ArrayHeader& header, SinkOptions options) {
    const std::size_t axes = header.lengths.size();
    FrameHeader frames;
    frames.frames = 1;
    std::vector<PlaneAxis> planes;
    bool known = axes >= 2;
    for (std::size_t axis = 0; known && axis + 2 < axes; ++axis) {
        const std::string name = header.names.empty() ? "t" : header.names[axis];
        known = name.size() == 1 && std::string_view("tzc").find(name) != std::string_view::npos;
        frames.frames *= header.lengths[axis];
        if (known && header.lengths[axis] > 1)
            planes.push_back({name.front(), header.lengths[axis]});
    }
    const FrameFormat* const format = find_frame_format(path);
    const bool several = format && format->plane_axes;
    if (known && !header.names.empty())
        known = header.names[axes - 2] == "y" && header.names[axes - 1] == "x";
    const bool holds = known && (planes.size() <= 1 || several);
    if (!holds && options.pyramid)
        throw InvalidFile(
            path,
            "a pyramid (levels of lower resolution) can be written only for a series of frames");
    if (!holds)
        throw InvalidFile(
            path, fmt::format("cannot hold an array with the axes {} ({}), expected .npy, .h5 or "
                              ".zarr{}",
                              fmt::join(header.names, ","), fmt::join(header.lengths, "×"),
                              known ? ", or .tif" : ""));
    frames.shape = {header.lengths[axes - 1], header.lengths[axes - 2]};
    frames.sample = header.sample;
    frames.pixel = header.pixel;
    frames.frame_interval = header.frame_interval;
    frames.slice_distance = header.slice_distance;
    if (planes.size() == 1 && planes.front().letter == 'z')
        options.axis = StackAxis::slices;
    if (planes.size() > 1 || (planes.size() == 1 && planes.front().letter == 'c' && several))
        options.planes = planes;
    return {std::move(frames), std::move(options)};
}

std::unique_ptr<ArraySink> create_planes(const std::string& path, ArrayHeader header,
                                         const SinkOptions& options) {
    const Planes planes = planes_of(path, header, options);
    return array_of(create_frames(path, planes.header, planes.options), std::move(header));
}

} // namespace

std::unique_ptr<ArraySource> open_array(const std::string& name, const SourceOptions& options,
                                        Bytes cache) {
    SourceOptions every = options;
    every.every_plane = true;
    every.cache = cache;
    every.axes.clear();
    return with_axis_names(whole_array(open_frames(name, every)), options.axes);
}

std::unique_ptr<ArraySink> create_array(const std::string& path, ArrayHeader header,
                                        const SinkOptions& options) {
    header.check(path);
    const FrameFormat* const format = find_frame_format(path);
    if (format && format->create_array && !options.pyramid)
        return format->create_array(path, std::move(header), options);
    return create_planes(path, std::move(header), options);
}

std::string remark_on_lost_pixel(const std::string& path, const ArrayHeader& header) {
    if (!header.pixel.known())
        return "";
    const FrameFormat* const format = find_frame_format(path);
    if (!format || !format->create_array) {
        const Planes planes = planes_of(path, header, {});
        return remark_on_lost_pixel(path, planes.header, planes.options);
    }
    if (!format->array_keeps_pixel)
        return "";
    if (format->array_keeps_pixel(header)) {
        const auto& names = header.names; // y and x are the last two names
        const bool lost = header.slice_distance > 0 && format->name != "Zarr" &&
                          std::ranges::count(names, "z") > 0 && names[names.size() - 3] != "z";
        return lost ? fmt::format("{}: the slice distance, {:.6g} {}, is not stored: this "
                                  "format stores it only if the last axes are z, y and x",
                                  path, header.slice_distance, header.pixel.unit)
                    : "";
    }
    return fmt::format(
        "{}: the pixel size of {:.6g} {} is not stored: this format stores it only with {}", path,
        header.pixel.x, header.pixel.unit,
        format->name == "Zarr" ? "the axes t, c, z, y and x, in this order"
                               : "y and x as the last axes, and a unit of length");
}

} // namespace sextant::format
