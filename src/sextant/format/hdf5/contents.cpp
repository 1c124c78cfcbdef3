// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/contents.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/hdf5/references.hpp"
#include "sextant/format/hdf5/storage.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// True for h5py's bools, which are an enumeration with FALSE = 0 and TRUE = 1.
bool is_bool(hid_t type) {
    if (H5Tget_class(type) != H5T_ENUM || H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2)
        return false;
    return H5Tget_member_index(type, "FALSE") >= 0 && H5Tget_member_index(type, "TRUE") >= 0;
}

/// True for IEEE 754 half precision, which is recognised by the numbers of exponent and mantissa
/// bits.
bool is_half(hid_t type) {
    std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    return H5Tget_size(type) == 2 &&
           H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           exponent_bits == 5 && mantissa_bits == 10;
}

std::optional<Sample> sample_of(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_FLOAT) {
        return size == 4       ? std::optional(Sample::f32)
               : size == 8     ? std::optional(Sample::f64)
               : is_half(type) ? std::optional(Sample::f16)
                               : std::nullopt;
    }
    if (is_bool(type))
        return Sample::u8;
    if (H5Tget_class(type) != H5T_INTEGER)
        return std::nullopt;
    return sextant::sample_of(H5Tget_sign(type) == H5T_SGN_2 ? 'i' : 'u',
                              static_cast<std::int64_t>(8 * size));
}

/// Describes a type for messages, such as "complex numbers" for records of two floats.
std::string describe_type(hid_t type) {
    const std::size_t bits = 8 * H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return fmt::format("integers of {} bits", bits);
    case H5T_FLOAT:
        return fmt::format("floats of {} bits", bits);
    case H5T_STRING:
        return "text";
    case H5T_COMPOUND:
        return H5Tget_nmembers(type) == 2 && H5Tget_member_class(type, 0) == H5T_FLOAT &&
                       H5Tget_member_class(type, 1) == H5T_FLOAT
                   ? "complex numbers"
                   : "records";
    default:
        return "an unsupported type";
    }
}

struct Names {
    std::vector<std::string> datasets, groups, external_links, soft_links, hard_links;
    std::size_t objects = 0;
};

constexpr std::size_t most_objects = 100000;

herr_t note_dataset(hid_t, const char* name, const H5O_info_t* info, void* user) {
    auto& names = *static_cast<Names*>(user);
    if (++names.objects > most_objects)
        return 1; // stop: too many objects
    try {
        if (info->type == H5O_TYPE_DATASET)
            names.datasets.emplace_back(name);
        if (info->type == H5O_TYPE_GROUP && std::string_view(name) != ".")
            names.groups.push_back(std::string("/") + name);
    } catch (...) {
        return -1; // an exception must not pass through C
    }
    return 0;
}

herr_t note_link(hid_t, const char* name, const H5L_info_t* info, void* user) {
    auto& names = *static_cast<Names*>(user);
    if (++names.objects > 2 * most_objects)
        return 1;
    try {
        if (info->type == H5L_TYPE_EXTERNAL)
            names.external_links.push_back(std::string("/") + name);
        if (info->type == H5L_TYPE_SOFT)
            names.soft_links.push_back(std::string("/") + name);
        if (info->type == H5L_TYPE_HARD)
            names.hard_links.push_back(std::string("/") + name);
    } catch (...) {
        return -1;
    }
    return 0;
}

/// Adds the sides of a virtual dataset. If its sources cannot be read, adds the stated sides.
void describe_virtual(const Hdf5Input& file, hid_t created, Hdf5Dataset& described) {
    try {
        described.sides = Hdf5Storage(file, described.name).sides();
    } catch (const InvalidFile& error) { // the error is reported when the dataset is read
        const std::string before = error.path() + ": ";
        described.trouble = std::string(error.what()).substr(before.size());
        const Hdf5Handle stated(H5Pget_virtual_vspace(created, 0), H5Sclose);
        if (stated)
            described.sides = sides_of(stated.id());
    }
}

} // namespace

std::int64_t Hdf5Dataset::elements() const {
    double product = 1;
    for (const std::int64_t side : sides)
        product *= static_cast<double>(side);
    constexpr double most = 1e18;
    return static_cast<std::int64_t>(std::min(product, most));
}

std::optional<Hdf5Dataset> describe_hdf5(const Hdf5Input& file, const std::string& name) {
    Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle type(dataset ? H5Dget_type(dataset.id()) : -1, H5Tclose);
    const Hdf5Handle created(dataset ? H5Dget_create_plist(dataset.id()) : -1, H5Pclose);
    if (!type || !created)
        return std::nullopt;
    Hdf5Dataset described{name, {}, sample_of(type.id())};
    if (!described.sample)
        described.elements_are = describe_type(type.id());
    if (H5Pget_layout(created.id()) == H5D_VIRTUAL) {
        // Close the dataset first: the access properties of the first open handle apply to all
        // handles.
        dataset = {};
        describe_virtual(file, created.id(), described);
        return described;
    }
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    if (!space)
        return std::nullopt;
    described.sides = sides_of(space.id());
    return described;
}

Hdf5Contents list_hdf5(const Hdf5Input& file) {
    Names names;
    if (H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, note_dataset, &names, H5O_INFO_BASIC) !=
            0 ||
        H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, note_link, &names) != 0) {
        throw InvalidFile(
            file.path(),
            names.objects > most_objects
                ? fmt::format(
                      "has more than {} objects: append the name of a dataset, such as {}::/data",
                      most_objects, file.path())
                : "cannot be read as HDF5: " + hdf5_complaint());
    }
    Hdf5Contents contents;
    for (const std::string& name : names.datasets) {
        if (auto dataset = describe_hdf5(file, "/" + name))
            contents.datasets.push_back(std::move(*dataset));
    }
    for (const std::string& name : names.external_links) {
        if (auto dataset = describe_hdf5(file, name)) {
            contents.datasets.push_back(std::move(*dataset));
            continue;
        }
        const std::string reason = complaint_of_link();
        contents.links.push_back(
            {name, reason.empty() ? "refers to a group in another file; to read one of its "
                                    "datasets, append the name of the dataset"
                                  : reason});
    }
    for (const std::string& name : names.soft_links) {
        if (auto dataset = describe_hdf5(file, name)) {
            contents.aliases.push_back(std::move(*dataset));
            continue;
        }
        const std::string reason = complaint_of_link(); // set if an external link was refused
        if (H5Oexists_by_name(file.id(), name.c_str(), H5P_DEFAULT) <= 0)
            contents.links.push_back(
                {name, reason.empty() ? "is a link to an object that is missing" : reason});
    }
    std::set<std::string> visited(names.groups.begin(), names.groups.end());
    for (const std::string& name : names.datasets)
        visited.insert("/" + name);
    for (const std::string& name : names.hard_links) {
        auto dataset = visited.contains(name) ? std::nullopt : describe_hdf5(file, name);
        if (dataset)
            contents.aliases.push_back(std::move(*dataset));
    }
    contents.groups = std::move(names.groups);
    return contents;
}

std::vector<double> hdf5_values(const Hdf5Input& file, const std::string& name,
                                std::int64_t count) {
    const auto described = describe_hdf5(file, name);
    if (!described || !described->sample || described->sides.size() != 1)
        return {};
    const auto wanted = static_cast<hsize_t>(std::min(count, described->sides.front()));
    const hsize_t start = 0;
    std::vector<double> values(static_cast<std::size_t>(wanted));
    if (!read_hdf5_block(file, name, {&start, 1}, {&wanted, 1}, H5T_NATIVE_DOUBLE, values.data()))
        return {};
    return values;
}

bool read_hdf5_block(const Hdf5Input& file, const std::string& name, std::span<const hsize_t> start,
                     std::span<const hsize_t> count, hid_t type, void* to) {
    try {
        const Hdf5Storage stored(file, name);
    } catch (const InvalidFile&) {
        return false;
    }
    const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle from(H5Dget_space(dataset.id()), H5Sclose);
    const Hdf5Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                            H5Sclose);
    return std::find(count.begin(), count.end(), 0U) == count.end() &&
           H5Sselect_hyperslab(from.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                               nullptr) >= 0 &&
           H5Dread(dataset.id(), type, memory.id(), from.id(), H5P_DEFAULT, to) >= 0;
}

} // namespace sextant::format
