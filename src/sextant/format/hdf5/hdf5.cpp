// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/format/axis_metadata.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/hdf5/contents.hpp"
#include "sextant/format/hdf5/large_chunks.hpp"
#include "sextant/format/hdf5/library.hpp"
#include "sextant/format/hdf5/read_apart.hpp"
#include "sextant/format/hdf5/references.hpp"
#include "sextant/format/hdf5/storage.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace sextant::format {

namespace {

/// A dataset, with metadata according to the convention of the file. `last_pixel` is the size of
/// the axes that are read as rows and columns.
struct Hdf5Series : AxisMetadata {
    Hdf5Dataset dataset;
    std::size_t row_axis = 0, column_axis = 1; ///< all other axes are frames
    std::size_t slice_axis = 0; ///< the axis before the rows, unless the file states another
    std::string remark = {};    ///< a remark on the axes for the user
};

/// The maximum number of positions along an axis that are examined.
constexpr std::int64_t most_positions = 1 << 16;

std::string parent_of(const std::string& name) {
    return name.substr(0, name.rfind('/'));
}

std::string leaf_of(const std::string& name) {
    return name.substr(name.rfind('/') + 1);
}

bool is_image(const Hdf5Dataset& dataset) {
    return dataset.sample && dataset.sides.size() >= 2;
}

/// Takes the last two axes as rows and columns, and the axis before them as slices.
///
/// Requires  two or more axes.
Hdf5Series with_last_axes(const Hdf5Dataset& dataset) {
    const std::size_t axes = dataset.sides.size();
    Hdf5Series series{{}, dataset, axes - 2, axes - 1};
    series.slice_axis = axes > 2 ? axes - 3 : 0;
    return series;
}

/// Returns Velox's metadata of the first frame: JSON text in the first column of a byte matrix.
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

/// Returns a number from JSON metadata, or 0 if it is missing. Velox stores numbers as strings.
double number_in_json(const JsonField& object, const char* key) {
    constexpr double most = std::numeric_limits<double>::max();
    const auto found = object.find(key);
    if (!found)
        return 0;
    return found->is_number() ? found->number(-most, most)
                              : std::strtod(found->any_text().c_str(), nullptr);
}

StatedPixelSize velox_pixel(const Hdf5Input& file, const std::string& dataset) {
    const std::string text = first_column(file, parent_of(dataset) + "/Metadata");
    try {
        const JsonField result =
            JsonField::parse(text, dataset, {.keys = text.size()}).at("BinaryResult");
        const JsonField size = result.at("PixelSize");
        const std::string unit = result.text_or_empty("PixelUnitX");
        return {number_in_json(size, "width"), number_in_json(size, "height"), unit,
                result.find("PixelUnitY") ? result.text_or_empty("PixelUnitY") : unit};
    } catch (const InvalidFile&) {
        return {}; // not written by Velox
    }
}

bool is_velox(const Hdf5Input&, const Hdf5Dataset& dataset) {
    return dataset.name.starts_with("/Data/Image/") && dataset.name.ends_with("/Data") &&
           std::ranges::count(dataset.name, '/') == 4;
}

Hdf5Series velox(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    if (dataset.sides.size() > 3)
        return with_last_axes(dataset);
    return {{.last_pixel = velox_pixel(file, dataset.name)}, dataset, 0, 1};
}

/// True for Velox's spectra, which are matrices with one column. Spectra are the main data of files
/// without images.
bool is_velox_spectrum(const Hdf5Input&, const Hdf5Dataset& dataset) {
    return dataset.name.starts_with("/Data/Spectrum/") && dataset.name.ends_with("/Data") &&
           std::ranges::count(dataset.name, '/') == 4;
}

Hdf5Series velox_spectrum(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    throw InvalidFile(file.path(), fmt::format("has no images: {} is a spectrum", dataset.name));
}

/// Returns the name of the dataset that holds the positions along an axis of a Berkeley EMD group.
std::string berkeley_axis(const std::string& group, std::size_t axis) {
    return fmt::format("{}/dim{}", group, axis + 1);
}

bool has_link(const Hdf5Input& file, const std::string& name) {
    return H5Lexists(file.id(), name.c_str(), H5P_DEFAULT) > 0;
}

/// True for the dataset "data" of a Berkeley EMD group. Prismatic uses other names, so in a group
/// without "data", true for every dataset except the positions along the axes.
bool is_berkeley(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (group.empty() || !hdf5_number(file, group, "emd_group_type"))
        return false;
    return has_link(file, group + "/data") ? dataset.name == group + "/data"
                                           : !dataset.name.starts_with(group + "/dim");
}

/// Describes a dataset of a Berkeley EMD group, which has a vector of positions for each axis; axes
/// are numbered from 1. Axes named x and y are columns and rows: Prismatic and HyperSpy store x
/// first, and frames last.
Hdf5Series berkeley(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    std::vector<DescribedAxis> axes(dataset.sides.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::string name = berkeley_axis(group, axis);
        if (!describe_hdf5(file, name))
            continue;
        axes[axis] = {hdf5_text(file, name, "name"), 0, hdf5_text(file, name, "units")};
        take_positions(axes[axis], hdf5_values(file, name, most_positions));
    }
    Hdf5Series series = with_last_axes(dataset);
    const auto row = axis_named(axes, {"y", "r_y", "q_y", "height"}),
               column = axis_named(axes, {"x", "r_x", "q_x", "width"});
    if (axes.size() <= 3 && row && column) {
        series.row_axis = *row;
        series.column_axis = *column;
    }
    series.remark = remark_on_uneven(axes);
    const DescribedAxis& columns = axes[series.column_axis];
    series.last_pixel = pixel_of(axes[series.row_axis], columns);
    if (axes.size() == 3) {
        series.slice_axis = 3 - series.row_axis - series.column_axis;
        const DescribedAxis& slices = axes[series.slice_axis];
        series.frame_interval = believable_interval(slices.step, slices.unit);
        series.slice_distance =
            distance_in_pixel_unit(slices.step, slices.unit, tidy_unit(columns.unit));
    }
    return series;
}

Hdf5Series with_axes(const Hdf5Dataset& dataset, std::span<const DescribedAxis> axes) {
    Hdf5Series series = with_last_axes(dataset);
    static_cast<AxisMetadata&>(series) = describe_axes(axes);
    series.remark = remark_on_uneven(axes);
    return series;
}

bool is_hyperspy(const Hdf5Input&, const Hdf5Dataset& dataset) {
    return dataset.name.starts_with("/Experiments/") && dataset.name.ends_with("/data") &&
           std::ranges::count(dataset.name, '/') == 3; // deeper datasets are metadata
}

/// Describes a dataset of a HyperSpy group, whose attributes describe each axis; axes are numbered
/// from 0.
Hdf5Series hyperspy(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const auto text = [&](const std::string& object, const char* attribute) {
        const std::string stated = hdf5_text(file, object, attribute);
        return stated == "_None_" ? "" : stated;
    };
    const std::string group = parent_of(dataset.name);
    std::vector<DescribedAxis> axes(dataset.sides.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::string name = fmt::format("{}/axis-{}", group, axis);
        if (has_link(file, name))
            axes[axis] = {text(name, "name"), hdf5_number(file, name, "scale").value_or(0),
                          text(name, "units")};
    }
    return with_axes(dataset, axes);
}

bool is_nexus_data(const Hdf5Input& file, const std::string& group) {
    return !group.empty() && hdf5_text(file, group, "NX_class") == "NXdata";
}

/// True for the signal of an NXdata group: the dataset that the group names or, in old files, the
/// dataset with the attribute "signal".
bool is_nexus(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (!is_nexus_data(file, group))
        return false;
    const std::string signal = hdf5_text(file, group, "signal");
    return signal.empty() ? hdf5_number(file, dataset.name, "signal") == 1 ||
                                hdf5_text(file, dataset.name, "signal") == "1"
                          : signal == leaf_of(dataset.name);
}

/// True for datasets in NXdata groups that do not name their signal, as some detectors write them.
bool is_nexus_without_signal(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    return dataset.sides.size() >= 2 && is_nexus_data(file, group) &&
           hdf5_text(file, group, "signal").empty();
}

/// Returns the NXdata group that the file names as its default, or "".
std::string nexus_default(const Hdf5Input& file) {
    std::string group;
    for (int depth = 0; depth < 8 && !is_nexus_data(file, group); ++depth) {
        const std::string next = hdf5_text(file, group.empty() ? "/" : group, "default");
        if (next.empty() || !has_link(file, group + "/" + next))
            return "";
        group += "/" + next;
    }
    return is_nexus_data(file, group) ? group : "";
}

/// Describes the signal of an NXdata group, which names a dataset of positions for each axis.
Hdf5Series nexus(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
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
        take_positions(axis, hdf5_values(file, positions, most_positions));
        axis.unit = hdf5_text(file, positions, "units");
    }
    return with_axes(dataset, axes);
}

/// Describes any dataset. Several programs, such as ImageJ's HDF5 plugin, store the size of an
/// element along slices, rows and columns, in µm.
Hdf5Series plain(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    Hdf5Series series = with_last_axes(dataset);
    const std::vector<double> size = hdf5_numbers(file, dataset.name, "element_size_um", 3);
    if (size.size() >= 2)
        series.last_pixel = {size[size.size() - 1], size[size.size() - 2], "µm", "µm"};
    if (size.size() == 3 && dataset.sides.size() >= 3)
        series.slice_distance = size[0];
    return series;
}

/// A convention of programs that write HDF5 files, such as Velox.
struct Hdf5Convention {
    /// True for main data according to this convention, even if they cannot be read.
    bool (*is_data)(const Hdf5Input& file, const Hdf5Dataset& dataset);
    /// Describes main data. Requires two or more axes.
    Hdf5Series (*describe)(const Hdf5Input& file, const Hdf5Dataset& dataset);
};

/// The conventions in order of priority.
constexpr std::array conventions{
    Hdf5Convention{is_velox, velox},       Hdf5Convention{is_velox_spectrum, velox_spectrum},
    Hdf5Convention{is_berkeley, berkeley}, Hdf5Convention{is_hyperspy, hyperspy},
    Hdf5Convention{is_nexus, nexus},       Hdf5Convention{is_nexus_without_signal, nexus}};

Hdf5Series describe_series(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    for (const Hdf5Convention& convention : conventions) {
        if (convention.is_data(file, dataset))
            return convention.describe(file, dataset);
    }
    return plain(file, dataset);
}

[[noreturn]] void refuse_dataset(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    throw InvalidFile(
        file.path(),
        fmt::format("dataset {} has {} axes and its elements are {}, expected at least two axes, "
                    "and integers or floats of 8 to 64 bits",
                    dataset.name, dataset.sides.size(),
                    dataset.sample ? sextant::name(*dataset.sample) : dataset.elements_are));
}

Hdf5Series by_name(const Hdf5Input& file, const std::string& wanted) {
    const std::string name = wanted.starts_with('/') ? wanted : "/" + wanted;
    const auto dataset = describe_hdf5(file, name);
    if (!dataset) {
        const std::string link = complaint_of_link();
        throw InvalidFile(file.path(), link.empty() ? fmt::format("has no dataset {}", name)
                                                    : fmt::format("{} {}", name, link));
    }
    if (!is_image(*dataset))
        refuse_dataset(file, *dataset);
    return describe_series(file, *dataset);
}

const Hdf5Dataset& largest_of(const std::vector<Hdf5Dataset>& datasets) {
    return *std::max_element(datasets.begin(), datasets.end(), [](const auto& a, const auto& b) {
        return a.elements() < b.elements();
    });
}

/// True for names such as "data" and "Data_000001".
bool is_named_data(const std::string& name) {
    return lower_case(leaf_of(name).substr(0, 4)) == "data";
}

/// Throws InvalidFile if the main data are not `chosen` but a dataset that cannot be read.
void require_chosen(const Hdf5Input& file, const std::vector<Hdf5Dataset>& found,
                    const Hdf5Dataset& chosen) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidFile(file.path(), fmt::format("{}; append the name of another dataset, such "
                                                   "as {}::{}",
                                                   why, file.path(), chosen.name));
    };
    for (const Hdf5Dataset& other : found) {
        const bool is_more = other.elements() >= chosen.elements();
        const bool has_name = is_named_data(other.name) && !is_named_data(chosen.name);
        if (other.name == chosen.name || other.sides.size() < 2)
            continue;
        if (!other.trouble.empty()) // its size is unknown without its sources
            throw InvalidFile(file.path(), fmt::format("{}; to read another dataset, append its "
                                                       "name, such as {}::{}",
                                                       other.trouble, file.path(), chosen.name));
        if (has_name && other.sample && other.elements() == 0)
            refuse(fmt::format("{} has no samples", other.name));
        const bool numbers =
            other.elements_are == "complex numbers" || other.elements_are.starts_with("floats");
        if (numbers && (is_more || has_name))
            refuse(fmt::format("{}, {}, contains {}, expected integers or floats of 8 to 64 bits",
                               is_more ? "its largest dataset" : "its main dataset", other.name,
                               other.elements_are));
    }
}

std::string without_number(const std::string& name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/// Returns the largest of the candidates for the main data. Throws InvalidFile if the main data
/// cannot be read.
Hdf5Dataset main_dataset(const Hdf5Input& file, const std::vector<Hdf5Dataset>& found,
                         const std::vector<Hdf5Link>& links, std::vector<std::string>& remarks) {
    std::vector<Hdf5Dataset> images, others;
    for (const Hdf5Dataset& dataset : found)
        (is_image(dataset) ? images : others).push_back(dataset);
    if (images.empty())
        refuse_dataset(file, largest_of(others));
    const Hdf5Dataset& largest = largest_of(images);
    require_chosen(file, found, largest);
    std::vector<std::string> names;
    std::ranges::transform(found, std::back_inserter(names), &Hdf5Dataset::name);
    if (found.size() > 1)
        remarks.push_back(fmt::format("{} is read; the file also contains {}", largest.name,
                                      listed(names, largest.name)));
    const std::string start = without_number(largest.name);
    const auto frames_of = [](const Hdf5Dataset& image) {
        return image.sides.size() < 3 ? std::int64_t{1} : image.sides.front();
    };
    std::int64_t parts = 0, frames = 0;
    for (const Hdf5Dataset& image : images) {
        if (image.sides.size() != largest.sides.size() || without_number(image.name) != start)
            continue;
        ++parts;
        frames += frames_of(image);
    }
    if (start == largest.name || !is_named_data(largest.name))
        return largest;
    for (const Hdf5Link& link : links) {
        if (without_number(link.name) == start)
            remarks.push_back(fmt::format("frames are missing: {} {}", link.name, link.reason));
    }
    if (parts > 1)
        remarks.push_back(fmt::format(
            "only {} of {} frames are read: those in {} of the series {}* are missing; append the "
            "name of a part to read it",
            frames_of(largest), frames,
            parts == 2 ? "another part" : fmt::format("{} other parts", parts - 1), start));
    return largest;
}

/// True if a link that was not followed may lead to the main data: it refers to another file, is
/// named like data, or is in an NXdata group.
bool may_be_main(const Hdf5Input& file, const Hdf5Link& link) {
    return link.reason.starts_with("refers to") || is_named_data(link.name) ||
           hdf5_text(file, parent_of(link.name), "NX_class") == "NXdata";
}

/// Throws InvalidFile if the main data of a file without a known convention may be the target of a
/// link that was not followed. The remaining datasets, such as the mask of a detector, are not the
/// main data.
void require_followed(const Hdf5Input& file, const std::vector<Hdf5Link>& links,
                      const std::vector<Hdf5Dataset>& images) {
    const auto link =
        std::ranges::find_if(links, [&](const Hdf5Link& each) { return may_be_main(file, each); });
    if (link == links.end())
        return;
    throw InvalidFile(file.path(),
                      fmt::format("may have its data elsewhere: {} {}; to read another dataset, "
                                  "append its name, such as {}::{}",
                                  link->name, link->reason, file.path(), largest_of(images).name));
}

/// Throws InvalidFile if a group names a missing signal, because the remaining datasets are not the
/// main data.
void require_signals(const Hdf5Input& file, const std::vector<std::string>& groups) {
    for (const std::string& group : groups) {
        const std::string signal = hdf5_text(file, group, "signal");
        if (!signal.empty() && is_nexus_data(file, group))
            throw InvalidFile(file.path(), fmt::format("has no dataset {}, which {} names as its "
                                                       "signal",
                                                       signal, group));
    }
}

/// Returns the datasets that are main data according to a convention. If the default group of NeXus
/// has such datasets, returns only those. Throws InvalidFile if there are no such datasets but a
/// link was not followed.
std::vector<Hdf5Dataset> data_of(const Hdf5Convention& convention, const Hdf5Input& file,
                                 const Hdf5Contents& contents) {
    std::vector<Hdf5Dataset> found;
    for (const auto* const datasets : {&contents.datasets, &contents.aliases})
        std::ranges::copy_if(*datasets, std::back_inserter(found), [&](const Hdf5Dataset& dataset) {
            return convention.is_data(file, dataset);
        });
    const std::string group = convention.describe == nexus ? nexus_default(file) : "";
    const auto is_default = [&](const auto& each) { return parent_of(each.name) == group; };
    const bool has_default = std::ranges::any_of(found, is_default);
    for (const Hdf5Link& link : contents.links) {
        if (convention.is_data(file, {link.name, {0, 0}, {}}) &&
            (found.empty() || (!has_default && is_default(link))))
            throw InvalidFile(file.path(), fmt::format("{} {}", link.name, link.reason));
    }
    if (found.empty() && convention.is_data == is_nexus)
        require_signals(file, contents.groups);
    if (has_default)
        std::erase_if(found, std::not_fn(is_default));
    return found;
}

/// Returns the dataset that holds the frames: the named one, or the largest dataset of the first
/// convention that the file follows. Throws InvalidFile if there is none or if it cannot be read.
Hdf5Series find_hdf5_series(const Hdf5Input& file, const std::string& wanted,
                            std::vector<std::string>& remarks) {
    if (!wanted.empty())
        return by_name(file, wanted);
    const Hdf5Contents contents = list_hdf5(file);
    for (const Hdf5Convention& convention : conventions) {
        if (auto found = data_of(convention, file, contents); !found.empty())
            return convention.describe(file, main_dataset(file, found, contents.links, remarks));
    }
    std::vector<Hdf5Dataset> found = contents.datasets, images;
    std::ranges::copy_if(found, std::back_inserter(images), is_image);
    if (!images.empty()) {
        require_followed(file, contents.links, images);
        std::erase_if(found, [](const Hdf5Dataset& dataset) { return dataset.sides.size() < 2; });
        return plain(file, main_dataset(file, found, contents.links, remarks));
    }
    const std::string what = "has no dataset of integers or floats with two or more axes";
    if (contents.links.empty())
        throw InvalidFile(file.path(), what);
    const Hdf5Link& link = contents.links.front();
    throw InvalidFile(
        file.path(),
        file.allows_external()
            ? fmt::format("{}; {} {}", what, link.name, link.reason)
            : fmt::format(
                  "{}, but links to other files, such as {}; use --allow-external to follow them",
                  what, link.name));
}

constexpr Bytes least_cache = Bytes{1} << 20, usual_cache = Bytes{1} << 28;
/// The maximum number of bytes decoded at once, unless a single chunk is larger.
constexpr Bytes piece_bytes = Bytes{1} << 26;

/// Returns the size of a chunk cache that decodes each chunk once, because it holds all chunks of a
/// frame. The size exceeds the usual limit only if the file or a chunk is large, or if `wished`
/// exceeds the limit. If there are several axes of frames, the cache also holds the chunks of all
/// frames at one position of the slowest axis, provided that these chunks fit within the usual
/// limit.
Bytes wanted_cache(const ArrayHeader& array, const FrameAxes& axes, const Hdf5Storage& storage,
                   Bytes wished) {
    if (storage.chunk().empty())
        return least_cache;
    const auto pieces = [&](std::size_t axis) {
        return static_cast<double>((array.lengths[axis] + array.chunk[axis] - 1) /
                                   array.chunk[axis]);
    };
    const std::size_t columns = array.lengths.size() - 1;
    const double all =
        static_cast<double>(storage.chunk_bytes()) * pieces(columns) * pieces(columns - 1);
    const Bytes of_frame =
        std::clamp(static_cast<Bytes>(std::min(all, 1e18)), least_cache,
                   std::max({usual_cache, 8 * storage.stored(), storage.chunk_bytes()}));
    double of_layer = all;
    for (std::size_t i = 1; i < axes.frames.size(); ++i)
        of_layer *= pieces(axes.frames[i]);
    const bool few = of_layer <= static_cast<double>(usual_cache);
    return std::max({of_frame, few ? static_cast<Bytes>(of_layer) : 0, wished});
}

/// Returns the in-memory type of samples. libhdf5 has no type for 16-bit floats.
Hdf5Handle type_in_memory(Sample sample) {
    const std::array<hid_t, 11> types{
        H5T_NATIVE_UINT8,  H5T_NATIVE_INT8,  H5T_NATIVE_UINT16, H5T_NATIVE_INT16,
        H5T_NATIVE_UINT32, H5T_NATIVE_INT32, H5T_NATIVE_UINT64, H5T_NATIVE_INT64,
        H5T_NATIVE_FLOAT,  H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE}; // in the order of Sample
    Hdf5Handle type(H5Tcopy(types[static_cast<std::size_t>(sample)]), H5Tclose);
    const bool half = sample == Sample::f16;
    if (!type || (half && (H5Tset_fields(type.id(), 15, 10, 5, 0, 10) < 0 ||
                           H5Tset_size(type.id(), 2) < 0 || H5Tset_ebias(type.id(), 15) < 0)))
        throw Error("HDF5 cannot create a type for samples of " + std::string(name(sample)));
    return type;
}

/// Returns the axis of the dataset for each axis of the array that is read.
std::vector<std::size_t> axis_order_of(const Hdf5Series& series) {
    std::vector<std::size_t> order;
    for (std::size_t axis = 0; axis < series.dataset.sides.size(); ++axis) {
        if (axis != series.row_axis && axis != series.column_axis)
            order.push_back(axis);
    }
    order.insert(order.end(), {series.row_axis, series.column_axis});
    return order;
}

std::vector<std::int64_t> in_array_order(const std::vector<std::int64_t>& of_dataset,
                                         const std::vector<std::size_t>& order) {
    std::vector<std::int64_t> of_array;
    for (const std::size_t axis : order)
        of_array.push_back(of_dataset[axis]);
    return of_array;
}

/// A dataset as an array whose last two axes are rows and columns.
class Hdf5Array final : public ArraySource {
  public:
    /// `order` has the axis of the dataset for each axis of the array, and `frames` the axes of the
    /// array that are read as frames.
    Hdf5Array(ArrayHeader header, std::vector<std::size_t> order, FrameAxes frames, Hdf5Input file,
              Hdf5Storage storage, Bytes cache, Pace pace)
        : ArraySource(file.path(), std::move(header), Checked()),
          order_(std::move(order)),
          frames_(std::move(frames)),
          file_(std::move(file)),
          storage_(std::move(storage)),
          type_(type_in_memory(this->header().sample)),
          dataset_(storage_.open(
              file_,
              streams() ? least_cache : wanted_cache(this->header(), frames_, storage_, cache))),
          pace_(std::move(pace)) {
        if (!dataset_)
            throw InvalidFile(path(), "cannot be read as HDF5: " + hdf5_complaint());
        if (streams())
            large_.emplace(storage_, dataset_.id(), pace_);
    }

    /// Returns the position of the samples in the opened file if they can be read without libhdf5:
    /// they must be contiguous, uncompressed, in this file, and in their in-memory type.
    StoredSamples stored() const {
        const Hdf5Handle created(H5Dget_create_plist(dataset_.id()), H5Pclose);
        const Hdf5Handle type(H5Dget_type(dataset_.id()), H5Tclose);
        if (!is_in_order() || storage_.is_virtual() || !created || !type ||
            H5Pget_layout(created.id()) != H5D_CONTIGUOUS ||
            H5Pget_external_count(created.id()) != 0 || H5Tequal(type.id(), type_.id()) <= 0)
            return {};
        const haddr_t first = H5Dget_offset(dataset_.id());
        struct stat in {
        }, opened{};
        if (first == HADDR_UNDEF || stat(path_of(dataset_.id()).c_str(), &in) != 0 ||
            stat(path().c_str(), &opened) != 0 || in.st_dev != opened.st_dev ||
            in.st_ino != opened.st_ino)
            return {};
        return {static_cast<Bytes>(first), in.st_dev, in.st_ino};
    }

  private:
    bool is_in_order() const { return std::ranges::is_sorted(order_); }
    /// True if chunks are too large to decode as a whole. Rows are then read while their chunks are
    /// decoded.
    bool streams() const { return Hdf5LargeChunks::has(storage_) && is_in_order(); }

    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        if (large_ || storage_.is_virtual())
            load_kept(block, to);
        else
            load_pieces(block, to);
    }

    /// Keeps the last rows that were read: a row of large chunks, which are decoded from their
    /// start, or many rows of a virtual dataset, because each call of libhdf5 decodes the chunks of
    /// its sources again.
    void load_kept(const ArrayBlock& block, std::span<std::byte> to) {
        const std::size_t columns = order_.size() - 1, rows = columns - 1;
        const Bytes size = header().element_bytes(), row = header().lengths[columns] * size;
        const std::int64_t part_rows = large_ ? 1 : block.count[rows];
        for_each_part(
            block, part_rows * block.count[columns], [&](const ArrayBlock& part, Elements offset) {
                std::byte* const target = to.data() + offset * size;
                if (kept_ && copy_part(*kept_, size, samples_.data(), part, target))
                    return;
                kept_.reset(); // until the rows are read
                ArrayBlock more = part;
                more.start[columns] = 0;
                more.count[columns] = header().lengths[columns];
                if (!large_)
                    more.count[rows] = std::min(std::max(part.count[rows], usual_cache / row),
                                                header().lengths[rows] - part.start[rows]);
                samples_.resize(static_cast<std::size_t>(more.elements() * size));
                if (large_)
                    load_row(more);
                else
                    load_pieces(more, samples_);
                kept_ = std::move(more);
                copy_part(*kept_, size, samples_.data(), part, target);
            });
    }

    void load_row(const ArrayBlock& row) {
        pace_(piece_bytes);
        try {
            large_->read_row(std::vector<hsize_t>(row.start.begin(), row.start.end()), type_.id(),
                             samples_);
        } catch (const Error& error) {
            refuse(row.start, error.what());
        }
    }

    /// Reads a block in pieces of whole chunks.
    void load_pieces(const ArrayBlock& block, std::span<std::byte> to) {
        const Bytes chunk =
            storage_.chunk().empty() ? header().element_bytes() : storage_.chunk_bytes();
        std::vector<std::int64_t> piece = header().chunk;
        std::int64_t chunks = std::max<std::int64_t>(1, piece_bytes / chunk);
        for (std::size_t axis = piece.size(); axis-- > 0;) {
            const std::int64_t all = (header().lengths[axis] + piece[axis] - 1) / piece[axis];
            piece[axis] *= std::min(chunks, all);
            chunks = std::max<std::int64_t>(1, chunks / all);
        }
        const ChunkParts pieces(block, piece);
        for (std::int64_t number = 0; number < pieces.size(); ++number) {
            pace_(std::max(piece_bytes, chunk));
            load_piece(block, pieces[number], to);
        }
    }

    void load_piece(const ArrayBlock& block, const ChunkPart& part, std::span<std::byte> to) {
        const std::size_t axes = order_.size();
        std::vector<hsize_t> start(axes), count(axes), at(axes), room(axes); // of the dataset
        std::vector<std::int64_t> position = block.start;
        bool in_order = true; // libhdf5 copies samples in the order of the dataset
        std::size_t last = 0;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            position[axis] += part.at[axis];
            start[order_[axis]] = static_cast<hsize_t>(position[axis]);
            count[order_[axis]] = static_cast<hsize_t>(part.count[axis]);
            at[order_[axis]] = static_cast<hsize_t>(part.at[axis]);
            room[order_[axis]] = static_cast<hsize_t>(block.count[axis]);
            if (block.count[axis] > 1) {
                in_order = in_order && order_[axis] >= last;
                last = order_[axis];
            }
        }
        if (!in_order) {
            at.assign(axes, 0);
            room = count;
            piece_.resize(static_cast<std::size_t>(ArrayBlock{{}, part.count}.elements() *
                                                   header().element_bytes()));
        }
        storage_.require(
            fmt::format("frame {} has no samples", frames_.frame_of(position, header().lengths)),
            start, count);
        const Hdf5Handle from(H5Dget_space(dataset_.id()), H5Sclose);
        const Hdf5Handle memory(H5Screate_simple(static_cast<int>(axes), room.data(), nullptr),
                                H5Sclose);
        if (H5Sselect_hyperslab(from.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr) < 0 ||
            H5Sselect_hyperslab(memory.id(), H5S_SELECT_SET, at.data(), nullptr, count.data(),
                                nullptr) < 0 ||
            H5Dread(dataset_.id(), type_.id(), memory.id(), from.id(), H5P_DEFAULT,
                    in_order ? to.data() : piece_.data()) < 0)
            refuse(position, hdf5_complaint());
        if (!in_order)
            reorder(part, count, block, to);
    }

    /// Copies a piece, in the order of the dataset, to its position in a block.
    void reorder(const ChunkPart& part, std::span<const hsize_t> count, const ArrayBlock& block,
                 std::span<std::byte> to) const {
        const std::vector<Elements> stored =
                                        steps_of(std::vector<Elements>(count.begin(), count.end())),
                                    steps = steps_of(block.count);
        const Bytes size = header().element_bytes();
        copy_block(part.count, size, piece_.data(), in_array_order(stored, order_),
                   to.data() + index_of(part.at, steps) * size, steps);
    }

    [[noreturn]] void refuse(std::span<const std::int64_t> position, const std::string& why) const {
        throw InvalidFile(path(), fmt::format("frame {} cannot be read: {}",
                                              frames_.frame_of(position, header().lengths), why));
    }

    std::vector<std::size_t> order_;
    FrameAxes frames_;
    Hdf5Input file_;
    Hdf5Storage storage_;
    Hdf5Handle type_; ///< type of samples in memory
    Hdf5Handle dataset_;
    Pace pace_;
    std::optional<Hdf5LargeChunks> large_;
    std::vector<std::byte> piece_; ///< samples in the order of the dataset
    std::optional<ArrayBlock> kept_;
    std::vector<std::byte> samples_; ///< of `kept_`
};

OpenedFrames open_here(const std::string& path, const SourceOptions& options, const Pace& pace) {
    Hdf5Input file(path, options.allow_external);
    guard_external_links(options.allow_external);
    std::vector<std::string> remarks;
    Hdf5Series series = find_hdf5_series(file, options.detail, remarks);
    Hdf5Storage storage(file, series.dataset.name);
    FrameHeader header;
    header.sample = *series.dataset.sample;
    const ArrayInFile array{series.dataset.sides,  series.row_axis, series.column_axis, "",
                            series.frame_interval, series.names};
    const FrameAxes chosen = choose_frame_axes(path, array, options, header);
    header.remarks.insert(header.remarks.begin(), remarks.begin(), remarks.end());
    header.remarks.insert(header.remarks.end(), storage.remarks().begin(), storage.remarks().end());
    if (!series.remark.empty())
        header.remarks.push_back(series.remark);
    const bool of_array = options.every_plane && !series.names.empty();
    header.pixel = believable(of_array ? series.pixel : series.last_pixel, header.remarks);
    if (chosen.frames.size() == 1 && !storage.chunk().empty())
        header.frames_per_chunk = std::min(header.frames, storage.chunk()[chosen.frames.front()]);
    if (chosen.frames.size() == 1 && chosen.frames.front() == series.slice_axis &&
        (header.axes.names.empty() || header.axes.names[chosen.frames.front()] == 'Z'))
        header.slice_distance = believable_distance(series.slice_distance, header.pixel);
    check_plausible(path, header.shape.elements() * size_of(header.sample), storage.stored(),
                    storage.ratio());
    check_row(path, header, storage.stored());
    std::vector<std::size_t> order = axis_order_of(series);
    FrameAxes axes{{}, in_array_order(chosen.fixed, order)};
    for (const std::size_t axis : chosen.frames)
        axes.frames.push_back(
            static_cast<std::size_t>(std::ranges::find(order, axis) - order.begin()));
    ArrayHeader whole = array_header_of(header, in_array_order(array.lengths, order));
    if (!storage.chunk().empty())
        whole.chunk = in_array_order(storage.chunk(), order);
    auto source =
        std::make_unique<Hdf5Array>(std::move(whole), std::move(order), axes, std::move(file),
                                    std::move(storage), options.cache, pace);
    const StoredSamples stored = source->stored();
    return {std::make_unique<FrameSource>(std::move(source), std::move(header), std::move(axes)),
            stored, noted_as_referred()};
}

OpenedFrames open_apart(const std::string& path, const SourceOptions& options) {
    const SourceFile regular(path); // checks the path before the process starts
    try {
        load_hdf5(); // loads libhdf5 once, instead of in each child process
    } catch (const std::runtime_error& missing) {
        throw InvalidFile(path, fmt::format("cannot be read: {}", missing.what()));
    }
    return read_apart(path, [=](const Pace& pace) { return open_here(path, options, pace); });
}

} // namespace

std::unique_ptr<FrameSource> open_hdf5(const std::string& path, const SourceOptions& options) {
    return open_apart(path, options).source;
}

std::vector<std::string> files_referred_by_hdf5(const std::string& path,
                                                const SourceOptions& options) {
    SourceOptions every = options; // reads all planes, so that no choice of planes can fail
    every.every_plane = true;
    every.axes.clear();
    return open_apart(path, every).referred;
}

} // namespace sextant::format
