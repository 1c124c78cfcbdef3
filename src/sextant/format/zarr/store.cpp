// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/zarr/zarr.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

constexpr Bytes longest_zarray = Bytes{1} << 20; // attributes are stored in a separate file
constexpr JsonLimits limits{.bytes = Bytes{1} << 26, .keys = std::size_t{1} << 16};
constexpr int deepest_group = 8;

std::string in_group(const std::string& group, const std::string& name) {
    return group.empty() ? name : name.empty() ? group : group + "/" + name;
}

} // namespace

ZarrStore::ZarrStore(const std::string& path, bool allow_external)
    : path_(path), allow_external_(allow_external) {
    while (path_.size() > 1 && path_.ends_with('/'))
        path_.pop_back();
    std::error_code error;
    root_ = fs::canonical(path_, error);
    if (error == std::errc::no_such_file_or_directory)
        throw InvalidFile(path, "no such file");
    if (error)
        throw InvalidFile(path, "cannot be read: " + error.message());
    if (!fs::is_directory(root_, error))
        throw InvalidFile(path, "is a file, expected a folder of Zarr arrays");
}

std::string ZarrStore::path_of(const std::string& name) const {
    return name.empty() ? path_ : path_ + "/" + name;
}

bool ZarrStore::has(const std::string& name) const {
    const std::string path = path_of(name);
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error == std::errc::no_such_file_or_directory) {
        refuse_broken_links(path);
        return false;
    }
    if (error)
        throw InvalidFile(path, "cannot be read: " + error.message());
    const bool inside =
        std::mismatch(root_.begin(), root_.end(), real.begin(), real.end()).first == root_.end();
    if (!inside && !allow_external_) {
        throw InvalidFile(path, fmt::format("is stored outside its Zarr store, in {}: "
                                            "--allow-external allows this",
                                            real.string()));
    }
    return true;
}

/// Throws InvalidFile for a broken symbolic link, which would otherwise be read as a missing chunk.
void ZarrStore::refuse_broken_links(fs::path path) const {
    std::error_code unknown;
    for (; path.native().size() > path_.size(); path = path.parent_path()) {
        if (fs::is_symlink(fs::symlink_status(path, unknown)) && !fs::exists(path, unknown))
            throw InvalidFile(path.string(), "is a symbolic link to a missing file");
    }
}

std::string ZarrSeries::file(const std::string& of) const {
    return in_group(name, of);
}

namespace {

/// Returns a name without trailing slashes. Throws InvalidFile, with a message that begins with
/// `what`, if the name leads out of its group.
std::string checked_name(const std::string& path, const std::string& what, std::string name) {
    while (name.ends_with('/'))
        name.pop_back();
    const fs::path parts(name);
    const bool leaves =
        parts.is_absolute() || std::find(parts.begin(), parts.end(), "..") != parts.end();
    if (leaves || name.find('\0') != std::string::npos) {
        throw InvalidFile(path, fmt::format("{} \"{}\" leads out of its group", what,
                                            printable(shortened(name))));
    }
    return parts == "." ? "" : name;
}

/// The kind of a folder according to its file zarr.json. Version 2 has other files.
enum class Node { none, group, array };

Node node_3(const ZarrStore& store, const std::string& name) {
    const std::string file = in_group(name, "zarr.json");
    if (!store.has(file))
        return Node::none;
    constexpr std::array<std::string_view, 2> kinds{"group", "array"};
    const JsonField node = JsonField::read(store.path_of(file), limits);
    const bool group = node.at("node_type").one_of<int>(kinds) == 0;
    if (group)
        require_understood(node);
    return group ? Node::group : Node::array;
}

bool is_array(const ZarrStore& store, const std::string& name) {
    return node_3(store, name) == Node::array || store.has(in_group(name, ".zarray"));
}

/// Returns the attributes of a group or an array, if there are any: a part of zarr.json in version
/// 3, a separate file in version 2.
std::optional<JsonField> attributes_of(const ZarrStore& store, const std::string& group) {
    std::optional<JsonField> all;
    if (const std::string name = in_group(group, "zarr.json"); store.has(name))
        all = JsonField::read(store.path_of(name), limits).find("attributes");
    else if (const std::string old = in_group(group, ".zattrs"); store.has(old))
        all = JsonField::read(store.path_of(old), limits);
    if (all)
        all->names(); // throws unless the attributes are an object
    return all;
}

/// Returns the metadata of OME-Zarr. Since version 0.5, they are a separate attribute; before, they
/// were the attributes themselves.
std::optional<JsonField> ome_of(const ZarrStore& store, const std::string& group) {
    auto all = attributes_of(store, group);
    auto ome = all ? all->find("ome") : std::nullopt;
    return ome && ome->is_object() ? ome : all;
}

/// Returns the first image of OME-Zarr's multiscales, if a group has any.
std::optional<JsonField> multiscale_of(const ZarrStore& store, const std::string& group) {
    const auto ome = ome_of(store, group);
    if (!ome)
        return std::nullopt;
    const std::vector<JsonField> images = ome->items_or_none("multiscales");
    return images.empty() ? std::nullopt : std::optional(images.front());
}

/// Returns the letter of "tczyx" for an axis, or '?'. Before OME-Zarr 0.4, axes were plain names.
char letter_of(const JsonField& axis) {
    const std::string name = axis.is_object() ? axis.at("name").any_text() : axis.any_text();
    const std::string type = axis.is_object() ? axis.text_or_empty("type") : "";
    if (type == "time")
        return 't';
    if (type == "channel")
        return 'c';
    const bool known = name.size() == 1 && std::string_view("tczyx").find(name) != name.npos;
    return known ? name.front() : '?';
}

/// Returns the letters of all axes; empty unless all are known and the last two are rows and
/// columns.
std::string letters_of(const JsonField& image, std::size_t count) {
    const auto axes = image.find("axes");
    if (!axes) // OME-Zarr 0.1 and 0.2 always have five axes
        return count == 5 ? "tczyx" : "";
    axes->require_size(count, fmt::format("a list of {} axes as in the array", count));
    std::string letters;
    for (const JsonField& axis : axes->items())
        letters += letter_of(axis);
    std::string sorted = letters;
    std::sort(sorted.begin(), sorted.end());
    const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    return distinct && letters.ends_with("yx") && letters.find('?') == letters.npos ? letters : "";
}

/// Reads the names of the axes of an OME-Zarr image. Time and channel axes are recognised by their
/// types.
void take_names(const JsonField& image, ZarrSeries& series) {
    const auto axes = image.find("axes");
    if (!axes || axes->size() != series.array.sides.size())
        return;
    series.names.clear();
    for (const JsonField& axis : axes->items()) {
        const char letter = letter_of(axis);
        const std::string name = axis.is_object() ? axis.at("name").any_text() : axis.any_text();
        series.names.push_back(letter == '?' ? name : std::string(1, letter));
    }
}

/// Reads the dimension names, which xarray stores as an attribute of arrays of version 2.
void take_dimensions(const ZarrStore& store, ZarrSeries& series) {
    series.names = series.array.names;
    std::error_code unknown;
    if (series.array.version != 2 ||
        !fs::exists(store.path_of(in_group(series.name, ".zattrs")), unknown))
        return;
    const auto attributes = attributes_of(store, series.name);
    const auto names = attributes ? attributes->find("_ARRAY_DIMENSIONS") : std::nullopt;
    if (!names || names->size() != series.array.sides.size())
        return;
    for (const JsonField& each : names->items())
        series.names.push_back(each.any_text());
}

/// Multiplies the steps of the axes by the scales in a list of coordinate transformations.
void apply_scales(const JsonField& owner, std::vector<double>& steps) {
    constexpr double most = std::numeric_limits<double>::max();
    for (const JsonField& each : owner.items_or_none("coordinateTransformations")) {
        const auto scale = each.find("scale");
        if (each.text_or_empty("type") != "scale" || !scale)
            continue;
        scale->require_size(steps.size(), fmt::format("a list of {} numbers", steps.size()));
        for (std::size_t axis = 0; axis < steps.size(); ++axis)
            steps[axis] *= (*scale)[axis].number(-most, most);
    }
}

std::string unit_of(const JsonField& image, std::size_t axis) {
    const auto axes = image.find("axes");
    const auto stated = axes ? std::optional((*axes)[axis]) : std::nullopt;
    return stated && stated->is_object() ? tidy_unit(stated->text_or_empty("unit")) : "";
}

/// Reads axes, pixel size and frame interval from the metadata of an image and of one of its
/// datasets.
void take_multiscale(const JsonField& image, const JsonField& dataset, ZarrSeries& series) {
    const std::size_t count = series.array.sides.size();
    take_names(image, series);
    series.axes = letters_of(image, count);
    if (series.axes.empty())
        return;
    std::vector<double> steps(count, 1);
    apply_scales(dataset, steps);
    apply_scales(image, steps);
    const std::string unit = unit_of(image, count - 1), row_unit = unit_of(image, count - 2);
    // Steps of 1 without a unit mean that the pixel size is unknown.
    if (!unit.empty() || !row_unit.empty() || steps[count - 1] != 1 || steps[count - 2] != 1)
        series.pixel = {steps[count - 1], steps[count - 2], unit, row_unit};
    series.last_pixel = series.pixel;
    if (const std::size_t z = series.axes.find('z'); z != std::string::npos)
        series.slice_distance = steps[z] * unit_factor(unit_of(image, z), unit);
    if (const std::size_t time = series.axes.find('t'); time != std::string::npos)
        series.frame_interval = believable_interval(steps[time], unit_of(image, time));
}

/// Reads the axes of a HyperSpy signal, whose samples are the array "data" in the signal's group.
void take_signal(const ZarrStore& store, const std::string& group, ZarrSeries& series) {
    std::vector<DescribedAxis> axes(series.array.sides.size());
    const auto text = [](const JsonField& attributes, const std::string& key) {
        const std::string stated = attributes.text_or_empty(key);
        return stated == "_None_" ? "" : stated;
    };
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const auto attributes = attributes_of(store, in_group(group, fmt::format("axis-{}", axis)));
        if (!attributes)
            continue;
        const auto scale = attributes->find("scale");
        constexpr double most = std::numeric_limits<double>::max();
        axes[axis] = {text(*attributes, "name"), scale ? scale->number(-most, most) : 0,
                      text(*attributes, "units")};
    }
    AxisMetadata signal = describe_axes(axes);
    if (signal.names.empty())
        signal.names = std::move(series.names);
    static_cast<AxisMetadata&>(series) = std::move(signal);
}

bool is_signal(const ZarrStore& store, const std::string& group) {
    return store.has(in_group(group, "axis-0")) && is_array(store, in_group(group, "data"));
}

ZarrSeries array_at(const ZarrStore& store, const std::string& name) {
    const bool old = node_3(store, name) != Node::array;
    const std::string file = store.path_of(in_group(name, old ? ".zarray" : "zarr.json"));
    ZarrSeries series{
        {}, name, parse_zarr_array(read_text(file, old ? longest_zarray : limits.bytes), file)};
    take_dimensions(store, series);
    return series;
}

/// Reads an array by name, and the metadata of the group that contains the array.
ZarrSeries array_in_group(const ZarrStore& store, const std::string& name) {
    ZarrSeries series = array_at(store, name);
    const std::size_t slash = name.rfind('/');
    const std::string group = slash == std::string::npos ? "" : name.substr(0, slash);
    const auto image = name.empty() ? std::nullopt : multiscale_of(store, group);
    if (!image) {
        if (name == in_group(group, "data") && is_signal(store, group))
            take_signal(store, group, series);
        return series;
    }
    for (const JsonField& dataset : image->items_or_none("datasets")) {
        if (in_group(group, dataset.at("path").any_text()) == name) {
            take_multiscale(*image, dataset, series);
            break;
        }
    }
    return series;
}

constexpr std::size_t most_arrays_listed = 100;

/// Returns the sorted names of the folders in a group. Symbolic links are not followed.
std::vector<std::string> folders_in(const ZarrStore& store, const std::string& group) {
    std::vector<std::string> folders;
    std::error_code error;
    for (fs::directory_iterator entry(store.path_of(group), error), end;
         !error && entry != end && folders.size() < 10 * most_arrays_listed;
         entry.increment(error)) {
        std::error_code unknown;
        if (fs::is_directory(entry->symlink_status(unknown)))
            folders.push_back(in_group(group, entry->path().filename().string()));
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

/// Adds the names of the arrays in a group and in the groups below it.
void list_arrays(const ZarrStore& store, const std::string& group, int depth,
                 std::vector<std::string>& names) {
    for (const std::string& folder : folders_in(store, group)) {
        if (names.size() >= most_arrays_listed)
            return;
        if (is_array(store, folder))
            names.push_back(folder);
        else if (depth < deepest_group)
            list_arrays(store, folder, depth + 1, names);
    }
}

/// True if OME-Zarr's metadata mark the group of an array as a label image.
bool is_label_image(const ZarrStore& store, const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos)
        return false;
    const auto ome = ome_of(store, name.substr(0, slash));
    return ome && ome->find("image-label");
}

[[noreturn]] void refuse_several(const ZarrStore& store, const std::string& what,
                                 const std::vector<std::string>& names) {
    throw InvalidFile(store.path(),
                      fmt::format("holds several {}, expected one of their names after \"::\": {}",
                                  what, listed(names)));
}

/// Returns the HyperSpy signal in a group, if there is one.
std::optional<ZarrSeries> only_signal(const ZarrStore& store, const std::string& group) {
    std::vector<std::string> signals;
    const std::string experiments = "Experiments";
    for (const std::string& folder :
         folders_in(store, group == experiments ? group : in_group(group, experiments))) {
        if (is_signal(store, folder))
            signals.push_back(in_group(folder, "data"));
    }
    if (signals.size() > 1)
        refuse_several(store, "signals", signals);
    return signals.empty() ? std::nullopt : std::optional(array_in_group(store, signals.front()));
}

ZarrSeries only_array(const ZarrStore& store, const std::string& group) {
    std::vector<std::string> names, images;
    list_arrays(store, group, 0, names);
    if (names.size() == 1)
        return array_at(store, names.front());
    std::ranges::copy_if(names, std::back_inserter(images),
                         [&](const std::string& name) { return !is_label_image(store, name); });
    if (images.size() == 1) {
        ZarrSeries series = array_in_group(store, images.front());
        series.remark = fmt::format("{} is read; the group also contains labels: {}",
                                    printable(images.front()), listed(names, images.front()));
        return series;
    }
    if (!names.empty())
        refuse_several(store, "arrays", names);
    if (node_3(store, group) == Node::group || store.has(in_group(group, ".zgroup")))
        throw InvalidFile(store.path_of(group), "is a Zarr group without arrays");
    throw InvalidFile(store.path_of(group), "is not a Zarr array or group: it has no zarr.json, "
                                            ".zarray, .zgroup or array");
}

ZarrSeries series_in(const ZarrStore& store, const std::string& name, int depth) {
    if (depth > deepest_group)
        throw InvalidFile(store.path_of(name), "has groups of images that are nested too deeply");
    if (!store.has(name))
        throw InvalidFile(store.path(), fmt::format("has no array or group {}", printable(name)));
    const Node node = node_3(store, name);
    if (node == Node::array || store.has(in_group(name, ".zarray")))
        return array_in_group(store, name);
    const std::string attributes =
        store.path_of(in_group(name, node == Node::group ? "zarr.json" : ".zattrs"));
    if (const auto image = multiscale_of(store, name)) {
        const JsonField datasets = image->at("datasets");
        if (datasets.size() == 0)
            datasets.refuse("at least one dataset");
        const JsonField path = datasets[0].at("path");
        return series_in(store, in_group(name, checked_name(attributes, path.name(), path.text())),
                         depth + 1);
    }
    const auto ome = ome_of(store, name);
    // bioformats2raw names the groups of images "0", "1" and so on.
    if (ome && ome->find("bioformats2raw.layout") && store.has(in_group(name, "0")))
        return series_in(store, in_group(name, "0"), depth + 1);
    if (is_signal(store, name)) // a signal's group may also hold arrays of metadata
        return array_in_group(store, in_group(name, "data"));
    if (auto signal = only_signal(store, name))
        return std::move(*signal);
    return only_array(store, name);
}

} // namespace

ZarrSeries find_zarr_series(const ZarrStore& store, const std::string& detail) {
    const std::size_t start = std::min(detail.find_first_not_of('/'), detail.size());
    return series_in(store, checked_name(store.path(), "the array", detail.substr(start)), 0);
}

} // namespace sextant::format
