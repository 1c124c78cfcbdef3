// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/array_catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/array_formats.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_axes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

char in_lower_case(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool is_axis_name(std::string_view name) {
    return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
           std::ranges::all_of(
               name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

/// An array whose axes are named by the options or by the file.
class NamedArray final : public ArraySource {
  public:
    NamedArray(std::unique_ptr<ArraySource> array, ArrayHeader header)
        : ArraySource(array->path(), std::move(header)), array_(std::move(array)) {}

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        array_->read(block, to);
    }
    bool lacks(const ArrayBlock& block) override { return array_->is_fill(block); }

    std::unique_ptr<ArraySource> array_;
};

std::unique_ptr<ArraySource> with_names(std::unique_ptr<ArraySource> array,
                                        const std::string& stated) {
    ArrayHeader header = array->header();
    const std::size_t axes = header.lengths.size();
    for (std::string& name : header.names)
        name = usual_axis_name(name);
    std::vector<std::string> sorted = header.names;
    std::ranges::sort(sorted);
    if (!std::ranges::all_of(sorted, is_axis_name) ||
        std::ranges::adjacent_find(sorted) != sorted.end())
        header.names.clear(); // "<undefined>", for example
    if (!stated.empty()) {
        const std::vector<std::string> names = parse_axis_names(array->path(), stated);
        if (names.size() != axes)
            throw InvalidFile(array->path(),
                              fmt::format("axes \"{}\" were stated, expected a name for each of {} "
                                          "axes ({})",
                                          printable(stated), axes, fmt::join(header.lengths, "×")));
        if (!header.names.empty() && header.names != names)
            throw InvalidFile(
                array->path(),
                fmt::format("axes \"{}\" were stated, but the file names them {}",
                            printable(stated),
                            printable(fmt::format("{}", fmt::join(header.names, ",")))));
        header.names = names;
    }
    if (header.names == array->header().names)
        return array;
    return std::make_unique<NamedArray>(std::move(array), std::move(header));
}

/// A format of arrays of any axes; functions are null if it is read or written as planes.
struct ArrayFormat {
    std::string_view name;
    std::unique_ptr<ArraySource> (*open)(const std::string& path, const std::string& detail,
                                         const SourceOptions& options, Bytes cache);
    std::unique_ptr<ArraySink> (*create)(const std::string& path, ArrayHeader header,
                                         const SinkOptions& options);
    /// True if `create` stores a known pixel size; null if the format holds none.
    bool (*keeps_pixel)(const ArrayHeader& header) = nullptr;
};

std::unique_ptr<ArraySource> open_npy_part(const std::string& path, const std::string& detail,
                                           const SourceOptions&, Bytes) {
    refuse_detail(path, detail);
    return open_npy_array(path);
}

/// Creates an array of a format that has no options.
template <auto create>
std::unique_ptr<ArraySink> without_options(const std::string& path, ArrayHeader header,
                                           const SinkOptions&) {
    return create(path, std::move(header));
}

constexpr std::array array_formats{
    ArrayFormat{"NPY", open_npy_part, without_options<create_npy_array>},
    ArrayFormat{"HDF5", open_hdf5_array, without_options<create_hdf5_array>,
                hdf5_array_keeps_pixel},
    ArrayFormat{"EMD, HyperSpy, NeXus", open_hdf5_array, nullptr},
    ArrayFormat{"Zarr", open_zarr_array, create_zarr_array, zarr_array_keeps_pixel},
    ArrayFormat{"HyperSpy Zarr", open_zarr_array, nullptr},
};

const ArrayFormat* find_array_format(const std::string& path) {
    const FrameFormat* const format = find_frame_format(path);
    const auto* const row =
        std::find_if(array_formats.begin(), array_formats.end(),
                     [&](const ArrayFormat& each) { return format && each.name == format->name; });
    return row == array_formats.end() ? nullptr : row;
}

/// Writes an array as planes, whose axes the format must know.
/// Planes of the axes y and x, and how a file stores them.
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
    const bool tiff = format && format->name == "TIFF";
    if (known && !header.names.empty())
        known = header.names[axes - 2] == "y" && header.names[axes - 1] == "x";
    const bool holds = known && (planes.size() <= 1 || tiff);
    if (!holds && options.pyramid)
        throw InvalidFile(path, "levels of lower resolution are only written of series of frames");
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
    if (planes.size() > 1 || (planes.size() == 1 && planes.front().letter == 'c' && tiff))
        options.planes = planes;
    return {std::move(frames), std::move(options)};
}

std::unique_ptr<ArraySink> create_planes(const std::string& path, ArrayHeader header,
                                         const SinkOptions& options) {
    const Planes planes = planes_of(path, header, options);
    return std::move(*create_frames(path, planes.header, planes.options))
        .into_array(std::move(header));
}

} // namespace

std::vector<std::string> parse_axis_names(const std::string& path, std::string_view text) {
    std::vector<std::string> names;
    if (text.find(',') == std::string_view::npos) {
        for (const char letter : text)
            names.push_back(usual_axis_name(std::string(1, letter)));
    } else {
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find(',', at), text.size());
            names.push_back(usual_axis_name(std::string(text.substr(at, end - at))));
            at = end + 1;
        }
    }
    std::vector<std::string> sorted = names;
    std::ranges::sort(sorted);
    if (!std::ranges::all_of(names, is_axis_name) ||
        std::ranges::adjacent_find(sorted) != sorted.end())
        throw InvalidTask(
            fmt::format("{}: axes \"{}\" were stated, expected a letter for each axis, "
                        "such as TYXE, or different names separated by commas, such "
                        "as t,y,x,ky,kx",
                        path, printable(text)));
    return names;
}

bool are_plane_axes(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) {
        return std::string_view("tczyx").find(in_lower_case(letter)) != std::string_view::npos;
    });
}

std::unique_ptr<ArraySource> whole_array(std::unique_ptr<FrameSource> planes) {
    const FrameHeader& header = planes->header();
    const std::vector<std::int64_t>& lengths = header.axes.lengths;
    std::int64_t stated = 1;
    for (std::size_t axis = 0; axis + 2 < lengths.size(); ++axis)
        stated *= lengths[axis];
    if (lengths.size() > 3 && stated != header.frames)
        throw InvalidFile(planes->path(), fmt::format("is truncated: {} of {} planes are complete",
                                                      header.frames, stated));
    return std::move(*planes).into_array();
}

std::unique_ptr<ArraySource> open_array(const std::string& name, const SourceOptions& options,
                                        Bytes cache) {
    const SeriesName parts = split_series_name(name);
    const bool several = parts.detail.empty() && find_frame_files(name);
    const ArrayFormat* const format = several ? nullptr : find_array_format(parts.path);
    std::unique_ptr<ArraySource> array;
    if (format && format->open)
        array = format->open(parts.path, parts.detail, options, cache);
    if (!array) {
        SourceOptions every = options;
        every.every_plane = true;
        every.axes.clear();
        array = whole_array(open_frames(name, every));
    }
    return with_names(std::move(array), options.axes);
}

std::unique_ptr<ArraySink> create_array(const std::string& path, ArrayHeader header,
                                        const SinkOptions& options) {
    header.check(path);
    const ArrayFormat* const format = find_array_format(path);
    if (format && format->create && !options.pyramid)
        return format->create(path, std::move(header), options);
    return create_planes(path, std::move(header), options);
}

std::string remark_on_lost_pixel(const std::string& path, const ArrayHeader& header) {
    if (!header.pixel.known())
        return "";
    const ArrayFormat* const format = find_array_format(path);
    if (!format || !format->create) {
        const Planes planes = planes_of(path, header, {});
        return remark_on_lost_pixel(path, planes.header, planes.options);
    }
    if (!format->keeps_pixel)
        return "";
    if (format->keeps_pixel(header)) {
        const auto& names = header.names; // y and x are the last ones
        const bool lost = header.slice_distance > 0 && format->name != "Zarr" &&
                          std::ranges::count(names, "z") > 0 && names[names.size() - 3] != "z";
        return lost ? fmt::format("{}: the distance of slices, {:.6g} {}, is not stored: this "
                                  "format has a place for it only with z, y and x as the last axes",
                                  path, header.slice_distance, header.pixel.unit)
                    : "";
    }
    return fmt::format("{}: the pixel size of {:.6g} {} is not stored: this format has a place for "
                       "it only with {}",
                       path, header.pixel.x, header.pixel.unit,
                       format->name == "Zarr" ? "the axes t, c, z, y and x, in this order"
                                              : "y and x as the last axes, and a unit of length");
}

} // namespace sextant::format
