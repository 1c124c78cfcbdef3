// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/array_source.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/core/json_field.hpp"
#include "sextant/format/array_formats.hpp"
#include "sextant/format/axis_metadata.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/hdf5_library.hpp"
#include "sextant/format/hdf5_references.hpp"
#include "sextant/format/hdf5_storage.hpp"
#include "sextant/format/read_apart.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// A dataset, and its metadata by the convention that the file follows.
struct Hdf5Series {
    Hdf5Dataset dataset;
    std::size_t row_axis = 0, column_axis = 1; ///< all other axes are frames
    PixelSize pixel = {};
    Seconds frame_interval = 0;
    double slice_distance = 0; ///< along the axis before the rows, in the unit of `pixel`
    std::vector<std::string> labels = {}; ///< names of all axes; empty if they are not stated
};

std::string parent_of(const std::string& name) {
    return name.substr(0, name.rfind('/'));
}

bool is_image(const Hdf5Dataset& dataset) {
    return dataset.sample && dataset.sides.size() >= 2;
}

Hdf5Series with_last_axes(const Hdf5Dataset& dataset) {
    const std::size_t axes = dataset.sides.size();
    return {dataset, axes - 2, axes - 1};
}

/// Returns Velox's metadata of the first frame: JSON text in the first column of a matrix of bytes.
std::string first_column(const Hdf5Input& file, const std::string& name) {
    const auto described = describe_hdf5(file, name);
    constexpr std::int64_t longest = 1 << 20;
    if (!described || described->sample != Sample::u8 || described->sides.size() != 2 ||
        described->sides[0] > longest || described->sides[1] < 1)
        return "";
    const std::array<hsize_t, 2> start{0, 0}, count{static_cast<hsize_t>(described->sides[0]), 1};
    std::string text(static_cast<std::size_t>(described->sides[0]), '\0');
    if (!read_hdf5_block(file, name, start, count, H5T_NATIVE_UINT8, text.data()))
        return "";
    return text.substr(0, text.find('\0'));
}

/// Returns a number from JSON metadata, or 0. Velox stores numbers as strings.
double number_in_json(const JsonField& object, const char* key) {
    constexpr double most = std::numeric_limits<double>::max();
    const auto found = object.find(key);
    if (!found)
        return 0;
    return found->is_number() ? found->number(-most, most)
                              : std::strtod(found->any_text().c_str(), nullptr);
}

PixelSize velox_pixel(const Hdf5Input& file, const std::string& dataset) {
    const std::string text = first_column(file, parent_of(dataset) + "/Metadata");
    try {
        const JsonField result =
            JsonField::parse(text, dataset, {.keys = text.size()}).at("BinaryResult");
        const JsonField size = result.at("PixelSize");
        return {number_in_json(size, "width"), number_in_json(size, "height"),
                tidy_unit(result.text_or_empty("PixelUnitX"))};
    } catch (const InvalidFile&) {
        return {}; // not written by Velox
    }
}

std::optional<Hdf5Series> velox(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const bool there = dataset.name.starts_with("/Data/Image/") && dataset.name.ends_with("/Data");
    if (!there || dataset.sides.size() > 3)
        return std::nullopt;
    return Hdf5Series{dataset, 0, 1, velox_pixel(file, dataset.name)};
}

/// Berkeley EMD groups have a vector of positions for each axis; axes are numbered from 1.
std::optional<Hdf5Series> berkeley(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (group.empty() || !hdf5_number(file, group, "emd_group_type"))
        return std::nullopt;
    Hdf5Series series = with_last_axes(dataset);
    const auto step = [&](std::size_t axis) {
        const auto values = hdf5_values(file, fmt::format("{}/dim{}", group, axis + 1), 2);
        return values.size() == 2 ? values[1] - values[0] : 0;
    };
    if (dataset.sides.size() == 3 && describe_hdf5(file, group + "/dim1"))
        series.frame_interval =
            believable_interval(step(0), hdf5_text(file, group + "/dim1", "units"));
    const std::string vector = fmt::format("{}/dim{}", group, series.column_axis + 1);
    if (describe_hdf5(file, vector)) {
        series.pixel = {step(series.column_axis), step(series.row_axis),
                        tidy_unit(hdf5_text(file, vector, "units"))};
        if (dataset.sides.size() == 3 && describe_hdf5(file, group + "/dim1"))
            series.slice_distance = distance_in_pixel_unit(
                step(0), hdf5_text(file, group + "/dim1", "units"), series.pixel);
    }
    return series;
}

Hdf5Series with_axes(const Hdf5Dataset& dataset, std::span<const DescribedAxis> axes) {
    const AxisMetadata metadata = describe_axes(axes);
    Hdf5Series series = with_last_axes(dataset);
    series.pixel = metadata.pixel;
    series.frame_interval = metadata.frame_interval;
    series.slice_distance = metadata.slice_distance;
    series.labels = metadata.names;
    return series;
}

/// HyperSpy groups describe each axis by attributes; axes are numbered from 0.
std::optional<Hdf5Series> hyperspy(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (!dataset.name.starts_with("/Experiments/") || !dataset.name.ends_with("/data"))
        return std::nullopt;
    std::vector<DescribedAxis> axes(dataset.sides.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::string name = fmt::format("{}/axis-{}", group, axis);
        if (H5Lexists(file.id(), name.c_str(), H5P_DEFAULT) > 0)
            axes[axis] = {hdf5_text(file, name, "name"),
                          hdf5_number(file, name, "scale").value_or(0),
                          hdf5_text(file, name, "units")};
    }
    return with_axes(dataset, axes);
}

/// A group NXdata of NeXus names its signal and, per axis, a dataset of positions.
std::optional<Hdf5Series> nexus(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (group.empty() || hdf5_text(file, group, "NX_class") != "NXdata" ||
        hdf5_text(file, group, "signal") != dataset.name.substr(group.size() + 1))
        return std::nullopt;
    const std::vector<std::string> names = hdf5_texts(file, group, "axes", most_array_axes);
    if (names.size() != dataset.sides.size())
        return with_last_axes(dataset);
    std::vector<DescribedAxis> axes;
    for (const std::string& name : names) {
        DescribedAxis& axis = axes.emplace_back();
        if (name == ".") // an axis without positions
            continue;
        axis.name = name;
        const std::string positions = fmt::format("{}/{}", group, name);
        if (name.find('/') != name.npos || !describe_hdf5(file, positions))
            continue;
        const std::vector<double> values = hdf5_values(file, positions, 2);
        if (values.size() == 2)
            axis.step = values[1] - values[0];
        axis.unit = hdf5_text(file, positions, "units");
    }
    return with_axes(dataset, axes);
}

/// Any dataset, with the size of an element that several programs store, as ImageJ's HDF5 plugin
/// does: in µm, along slices, rows and columns.
std::optional<Hdf5Series> plain(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    Hdf5Series series = with_last_axes(dataset);
    const std::vector<double> size = hdf5_numbers(file, dataset.name, "element_size_um", 3);
    if (size.size() >= 2)
        series.pixel = {size[size.size() - 1], size[size.size() - 2], "µm"};
    if (size.size() == 3 && dataset.sides.size() >= 3)
        series.slice_distance = size[0];
    return series;
}

/// The conventions in order of priority.
constexpr std::array conventions{velox, berkeley, hyperspy, nexus, plain};

Hdf5Series by_name(const Hdf5Input& file, const std::string& wanted) {
    const std::string name = wanted.starts_with('/') ? wanted : "/" + wanted;
    const auto dataset = describe_hdf5(file, name);
    if (!dataset) {
        const std::string link = complaint_of_link();
        throw InvalidFile(file.path(), link.empty() ? fmt::format("has no dataset {}", name)
                                                    : fmt::format("{} {}", name, link));
    }
    if (!is_image(*dataset)) {
        throw InvalidFile(
            file.path(),
            fmt::format("dataset {} has {} axes of {}, expected at least two, "
                        "of integers or floats of 8 to 64 bits",
                        name, dataset->sides.size(),
                        dataset->sample ? sextant::name(*dataset->sample) : "something else"));
    }
    for (const auto& convention : conventions) {
        if (auto series = convention(file, *dataset))
            return *series;
    }
    return with_last_axes(*dataset);
}

std::string names_of(const std::vector<Hdf5Dataset>& datasets, std::size_t except) {
    constexpr std::size_t most = 8;
    std::string names;
    std::size_t named = 0;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        if (i == except)
            continue;
        if (++named > most)
            return names + ", ...";
        names += (names.empty() ? "" : ", ") + datasets[i].name;
    }
    return names;
}

/// Returns the dataset that holds the frames: the named one, or the largest among those of the
/// first convention that the file follows. Throws InvalidFile if there is none.
Hdf5Series find_hdf5_series(const Hdf5Input& file, const std::string& wanted,
                            std::vector<std::string>& remarks) {
    if (!wanted.empty())
        return by_name(file, wanted);
    Hdf5Contents contents = list_hdf5(file);
    std::vector<Hdf5Dataset>& images = contents.datasets;
    std::erase_if(images, [](const Hdf5Dataset& dataset) { return !is_image(dataset); });
    for (const auto& convention : conventions) {
        std::vector<Hdf5Dataset> found;
        std::copy_if(
            images.begin(), images.end(), std::back_inserter(found),
            [&](const Hdf5Dataset& dataset) { return convention(file, dataset).has_value(); });
        if (found.empty())
            continue;
        const auto largest =
            std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
                return a.elements() < b.elements();
            });
        const auto index = static_cast<std::size_t>(largest - found.begin());
        if (found.size() > 1) {
            remarks.push_back(fmt::format("{} is read; the file also contains {}", largest->name,
                                          names_of(found, index)));
        }
        return *convention(file, *largest);
    }
    const std::string what = "has no dataset of integers or floats with two or more axes";
    throw InvalidFile(
        file.path(),
        contents.links.empty() || file.allows_external()
            ? what
            : fmt::format(
                  "{}, but links to other files, such as {}; use --allow-external to follow them",
                  what, contents.links.front()));
}

constexpr Bytes least_cache = Bytes{1} << 20, usual_cache = Bytes{1} << 28;
/// The maximum number of bytes decoded at once, unless a single chunk is larger.
constexpr Bytes piece_bytes = Bytes{1} << 26;

/// True if chunks are too large to decode as a whole and rows are read while the chunks are
/// decoded.
bool streams(const Hdf5Series& series, const Hdf5Storage& storage) {
    const std::size_t axes = storage.sides().size();
    return Hdf5LargeChunks::has(storage) && series.row_axis + 2 == axes &&
           series.column_axis + 1 == axes;
}

/// Returns the size of a cache that holds all chunks of a frame, so that each chunk is decoded
/// once; larger than usual only if the file is large or `wished` is.
Bytes wanted_cache(const Hdf5Series& series, const Hdf5Storage& storage, Bytes wished) {
    if (storage.chunk().empty() || streams(series, storage))
        return least_cache;
    const auto pieces = [&](std::size_t axis) {
        return (storage.sides()[axis] + storage.chunk()[axis] - 1) / storage.chunk()[axis];
    };
    const double all = static_cast<double>(storage.chunk_bytes()) *
                       static_cast<double>(pieces(series.column_axis)) *
                       static_cast<double>(pieces(series.row_axis));
    const Bytes of_frame =
        std::clamp(static_cast<Bytes>(std::min(all, 1e18)), least_cache,
                   std::max({usual_cache, 8 * storage.stored(), storage.chunk_bytes()}));
    return std::max(of_frame, wished);
}

hid_t native_type(Sample sample) {
    switch (sample) {
    case Sample::u8:
        return H5T_NATIVE_UINT8;
    case Sample::i8:
        return H5T_NATIVE_INT8;
    case Sample::u16:
        return H5T_NATIVE_UINT16;
    case Sample::i16:
        return H5T_NATIVE_INT16;
    case Sample::u32:
        return H5T_NATIVE_UINT32;
    case Sample::i32:
        return H5T_NATIVE_INT32;
    case Sample::u64:
        return H5T_NATIVE_UINT64;
    case Sample::i64:
        return H5T_NATIVE_INT64;
    case Sample::f64:
        return H5T_NATIVE_DOUBLE;
    default:
        return H5T_NATIVE_FLOAT;
    }
}

/// Returns the type of samples in memory. libhdf5 has no type for 16-bit floats.
Hdf5Handle type_in_memory(Sample sample) {
    Hdf5Handle type(H5Tcopy(native_type(sample)), H5Tclose);
    const bool half = sample == Sample::f16;
    if (!type || (half && (H5Tset_fields(type.id(), 15, 10, 5, 0, 10) < 0 ||
                           H5Tset_size(type.id(), 2) < 0 || H5Tset_ebias(type.id(), 15) < 0)))
        throw Error("HDF5 cannot create a type for samples of " + std::string(name(sample)));
    return type;
}

class Hdf5Frames : public FrameSource {
  public:
    Hdf5Frames(FrameHeader header, const Hdf5Series& series, FrameAxes axes, Hdf5Input file,
               Hdf5Storage storage, Bytes cache, Pace pace)
        : FrameSource(file.path(), std::move(header)),
          axes_(std::move(axes)),
          row_axis_(series.row_axis),
          column_axis_(series.column_axis),
          file_(std::move(file)),
          storage_(std::move(storage)),
          type_(type_in_memory(this->header().sample)),
          dataset_(storage_.open(file_, wanted_cache(series, storage_, cache))),
          pace_(std::move(pace)) {
        if (!dataset_)
            throw InvalidFile(path(), "cannot be read as HDF5: " + hdf5_complaint());
        if (streams(series, storage_))
            large_.emplace(storage_, dataset_.id(), pace_);
    }

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        if (large_)
            load_large(frame, rows, to);
        else if (storage_.is_virtual())
            load_kept(frame, rows, to);
        else
            load_rows(frame, rows, to);
    }

    /// Reads many rows at once and keeps them, because every call of libhdf5 decodes the chunks of
    /// virtual sources again.
    void load_kept(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (frame != kept_frame_ || rows.first < kept_rows_.first || rows.last > kept_rows_.last) {
            kept_frame_ = -1; // invalid until the rows are read
            const std::int64_t fit = std::max(rows.count(), usual_cache / row_bytes());
            kept_rows_ = {rows.first, std::min(rows.first + fit, header().shape.height)};
            kept_.resize(static_cast<std::size_t>(kept_rows_.count() * row_bytes()));
            load_rows(frame, kept_rows_, kept_);
            kept_frame_ = frame;
        }
        std::memcpy(to.data(), kept_.data() + (rows.first - kept_rows_.first) * row_bytes(),
                    to.size());
    }

    void load_large(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        std::vector<hsize_t> start = start_of(frame);
        const auto row = static_cast<std::size_t>(row_bytes());
        pace_(piece_bytes);
        for (std::int64_t y = rows.first; y < rows.last; ++y, to = to.subspan(row)) {
            start[row_axis_] = static_cast<hsize_t>(y);
            try {
                large_->read_row(start, type_.id(), to.first(row));
            } catch (const Error& error) {
                throw InvalidFile(path(),
                                  fmt::format("frame {} cannot be read: {}", frame, error.what()));
            }
        }
    }

    /// Reads rows in pieces of whole chunks.
    void load_rows(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        const std::int64_t width = header().shape.width;
        const bool chunked = !storage_.chunk().empty();
        const std::int64_t chunk_rows = chunked ? storage_.chunk()[row_axis_] : 1;
        const std::int64_t chunk_columns = chunked ? storage_.chunk()[column_axis_] : width;
        const Bytes chunk = chunked ? storage_.chunk_bytes() : row_bytes();
        const std::int64_t at_once = std::max<std::int64_t>(1, piece_bytes / chunk);
        const std::int64_t across = (width + chunk_columns - 1) / chunk_columns;
        const std::int64_t columns = std::min(across, at_once) * chunk_columns;
        const std::int64_t band = std::max<std::int64_t>(1, at_once / across) * chunk_rows;
        for (std::int64_t y = rows.first; y < rows.last;) {
            const std::int64_t end = std::min(y / band * band + band, rows.last);
            for (std::int64_t x = 0; x < width; x += columns) {
                pace_(std::max(piece_bytes, chunk));
                load_piece(frame, {y, end}, x, std::min(x + columns, width),
                           to.subspan(static_cast<std::size_t>((y - rows.first) * row_bytes())));
            }
            y = end;
        }
    }

    /// Reads columns [left, right) of the rows into the same columns of `to`.
    void load_piece(std::int64_t frame, Rows rows, std::int64_t left, std::int64_t right,
                    std::span<std::byte> to) {
        std::vector<hsize_t> start = start_of(frame), count(start.size(), 1);
        start[row_axis_] = static_cast<hsize_t>(rows.first);
        count[row_axis_] = static_cast<hsize_t>(rows.count());
        start[column_axis_] = static_cast<hsize_t>(left);
        count[column_axis_] = static_cast<hsize_t>(right - left);
        storage_.require(fmt::format("frame {} has no samples", frame), start, count);
        const Hdf5Handle from(H5Dget_space(dataset_.id()), H5Sclose);
        const std::array<hsize_t, 2> image{static_cast<hsize_t>(rows.count()),
                                           static_cast<hsize_t>(header().shape.width)};
        const std::array<hsize_t, 2> corner{0, start[column_axis_]},
            piece{image[0], count[column_axis_]};
        const Hdf5Handle memory(H5Screate_simple(2, image.data(), nullptr), H5Sclose);
        if (H5Sselect_hyperslab(from.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr) < 0 ||
            H5Sselect_hyperslab(memory.id(), H5S_SELECT_SET, corner.data(), nullptr, piece.data(),
                                nullptr) < 0 ||
            H5Dread(dataset_.id(), type_.id(), memory.id(), from.id(), H5P_DEFAULT, to.data()) <
                0) {
            throw InvalidFile(path(),
                              fmt::format("frame {} cannot be read: {}", frame, hdf5_complaint()));
        }
    }

    std::vector<hsize_t> start_of(std::int64_t frame) const {
        const auto position = axes_.position_of(frame, storage_.sides());
        return {position.begin(), position.end()};
    }

    FrameAxes axes_;
    std::size_t row_axis_, column_axis_;
    Hdf5Input file_;
    Hdf5Storage storage_;
    Hdf5Handle type_; ///< type of samples in memory
    Hdf5Handle dataset_;
    Pace pace_;
    std::optional<Hdf5LargeChunks> large_;
    std::vector<std::byte> kept_; ///< the last rows read of a virtual dataset
    std::int64_t kept_frame_ = -1;
    Rows kept_rows_;
};

/// The lengths of a chunk along the axes in the order in which every plane is read.
std::vector<std::int64_t> chunk_as_read(const Hdf5Storage& storage, const Hdf5Series& series,
                                        const FrameAxes& axes) {
    std::vector<std::int64_t> chunk;
    if (storage.chunk().empty())
        return chunk;
    for (const std::size_t axis : axes.frames)
        chunk.push_back(storage.chunk()[axis]);
    chunk.push_back(storage.chunk()[series.row_axis]);
    chunk.push_back(storage.chunk()[series.column_axis]);
    return chunk;
}

OpenedFrames open_here(const std::string& path, const std::string& detail,
                       const SourceOptions& options, Bytes cache, const Pace& pace) {
    Hdf5Input file(path, options.allow_external);
    guard_external_links(options.allow_external);
    std::vector<std::string> remarks;
    Hdf5Series series = find_hdf5_series(file, detail, remarks);
    Hdf5Storage storage(file, series.dataset.name);
    FrameHeader header;
    header.sample = *series.dataset.sample;
    const ArrayInFile array{series.dataset.sides,  series.row_axis, series.column_axis, "",
                            series.frame_interval, series.labels};
    FrameAxes axes = choose_frame_axes(path, array, options, header);
    header.remarks.insert(header.remarks.begin(), remarks.begin(), remarks.end());
    header.remarks.insert(header.remarks.end(), storage.remarks().begin(), storage.remarks().end());
    header.pixel = believable(series.pixel, header.remarks);
    if (axes.frames.size() == 1 && !storage.chunk().empty())
        header.frames_per_chunk = std::min(header.frames, storage.chunk()[axes.frames.front()]);
    if (axes.frames.size() == 1 && axes.frames.front() + 1 == series.row_axis &&
        (header.axes.names.empty() || header.axes.names[axes.frames.front()] == 'Z'))
        header.slice_distance = believable_distance(series.slice_distance, header.pixel);
    check_plausible(path, header.shape.elements() * size_of(header.sample), storage.stored(),
                    storage.ratio());
    check_row(path, header, storage.stored());
    std::vector<std::int64_t> chunk = chunk_as_read(storage, series, axes);
    return {std::make_unique<Hdf5Frames>(std::move(header), series, std::move(axes),
                                         std::move(file), std::move(storage), cache, pace),
            std::move(chunk)};
}

/// `cache`: memory for decoded chunks, besides those of the frame that is read.
OpenedFrames open_apart(const std::string& path, const std::string& detail,
                        const SourceOptions& options, Bytes cache) {
    const SourceFile regular(path); // checks the path before a process is started
    try {
        load_hdf5(); // once, and not in each process that reads a file
    } catch (const std::runtime_error& missing) {
        throw InvalidFile(path, fmt::format("cannot be read: {}", missing.what()));
    }
    return read_apart(
        path, [=](const Pace& pace) { return open_here(path, detail, options, cache, pace); });
}

} // namespace

std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const std::string& detail,
                                       const SourceOptions& options) {
    return open_apart(path, detail, options, 0).source;
}

std::unique_ptr<ArraySource> open_hdf5_array(const std::string& path, const std::string& detail,
                                             const SourceOptions& options, Bytes cache) {
    SourceOptions every = options;
    every.every_plane = true;
    every.axes.clear();
    OpenedFrames opened = open_apart(path, detail, every, cache);
    return planes_as_array(std::move(opened.source), std::move(opened.chunk));
}

} // namespace sextant::format
