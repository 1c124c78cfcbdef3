// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_library.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace sextant::format {

namespace {

Hdf5Handle open_attribute(hid_t file, const std::string& object, const std::string& attribute) {
    if (H5Aexists_by_name(file, object.c_str(), attribute.c_str(), H5P_DEFAULT) <= 0)
        return {};
    return {H5Aopen_by_name(file, object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose};
}

std::optional<Sample> sample_of(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    if (H5Tget_class(type) == H5T_FLOAT) {
        return size == 4   ? std::optional(Sample::f32)
               : size == 8 ? std::optional(Sample::f64)
                           : std::nullopt;
    }
    if (H5Tget_class(type) != H5T_INTEGER)
        return std::nullopt;
    switch (size) {
    case 1:
        return is_signed ? Sample::i8 : Sample::u8;
    case 2:
        return is_signed ? Sample::i16 : Sample::u16;
    case 4:
        return is_signed ? Sample::i32 : Sample::u32;
    case 8:
        return is_signed ? Sample::i64 : Sample::u64;
    default:
        return std::nullopt;
    }
}

std::vector<std::int64_t> sides_of(hid_t space) {
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > H5S_MAX_RANK)
        return {};
    std::vector<hsize_t> sides(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, sides.data(), nullptr);
    std::vector<std::int64_t> result;
    for (const hsize_t side : sides) {
        result.push_back(static_cast<std::int64_t>(
            std::min<hsize_t>(side, std::numeric_limits<std::int64_t>::max())));
    }
    return result;
}

/// The reason furthest from what was called lies first.
herr_t take_innermost(unsigned number, const H5E_error2_t* error, void* user) {
    if (number == 0 && error->desc)
        *static_cast<std::string*>(user) = error->desc;
    return 0;
}

struct Names {
    std::vector<std::string> datasets;
    std::size_t objects = 0;
};

constexpr std::size_t most_objects = 100000;

herr_t note_dataset(hid_t, const char* name, const H5O_info_t* info, void* user) {
    auto& names = *static_cast<Names*>(user);
    if (++names.objects > most_objects)
        return 1; // enough
    try {
        if (info->type == H5O_TYPE_DATASET)
            names.datasets.emplace_back(name);
    } catch (...) {
        return -1; // an exception must not pass through C
    }
    return 0;
}

} // namespace

std::string hdf5_complaint() {
    std::string complaint;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &complaint);
    return complaint;
}

Hdf5Handle open_hdf5_file(const std::string& path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // of this thread: we tell by exceptions
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file)
        throw InvalidFile(path, "cannot be read as HDF5: " + hdf5_complaint());
    return file;
}

std::int64_t Hdf5Dataset::elements() const {
    double product = 1;
    for (const std::int64_t side : sides)
        product *= static_cast<double>(side);
    constexpr double most = 1e18;
    return static_cast<std::int64_t>(std::min(product, most));
}

std::optional<Hdf5Dataset> describe_hdf5(hid_t file, const std::string& name) {
    const Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset)
        return std::nullopt;
    const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    if (!type || !space)
        return std::nullopt;
    return Hdf5Dataset{name, sides_of(space.id()), sample_of(type.id())};
}

std::vector<Hdf5Dataset> list_hdf5(hid_t file, const std::string& path) {
    Names names;
    if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, note_dataset, &names, H5O_INFO_BASIC) != 0) {
        throw InvalidFile(path, names.objects > most_objects
                                    ? fmt::format("has more than {} objects: name a dataset behind "
                                                  "its name, such as {}::/data",
                                                  most_objects, path)
                                    : "cannot be read as HDF5: " + hdf5_complaint());
    }
    std::vector<Hdf5Dataset> datasets;
    for (const std::string& name : names.datasets) {
        if (auto dataset = describe_hdf5(file, "/" + name))
            datasets.push_back(std::move(*dataset));
    }
    return datasets;
}

std::string hdf5_text(hid_t file, const std::string& object, const std::string& attribute) {
    const Hdf5Handle handle = open_attribute(file, object, attribute);
    const Hdf5Handle stored(handle ? H5Aget_type(handle.id()) : -1, H5Tclose);
    const Hdf5Handle space(handle ? H5Aget_space(handle.id()) : -1, H5Sclose);
    if (!stored || !space || H5Tget_class(stored.id()) != H5T_STRING ||
        H5Sget_simple_extent_npoints(space.id()) != 1)
        return "";
    if (H5Tis_variable_str(stored.id()) > 0) {
        char* letters = nullptr;
        if (H5Aread(handle.id(), stored.id(), &letters) < 0 || !letters)
            return "";
        const std::string text(letters);
        H5free_memory(letters);
        return text;
    }
    constexpr std::size_t longest = 1 << 16;
    const std::size_t size = H5Tget_size(stored.id());
    if (size > longest)
        return "";
    std::string text(size, '\0');
    if (H5Aread(handle.id(), stored.id(), text.data()) < 0)
        return "";
    return text.substr(0, text.find('\0'));
}

std::optional<double> hdf5_number(hid_t file, const std::string& object,
                                  const std::string& attribute) {
    const Hdf5Handle handle = open_attribute(file, object, attribute);
    const Hdf5Handle space(handle ? H5Aget_space(handle.id()) : -1, H5Sclose);
    double value = 0;
    if (!space || H5Sget_simple_extent_npoints(space.id()) != 1 ||
        H5Aread(handle.id(), H5T_NATIVE_DOUBLE, &value) < 0)
        return std::nullopt;
    return value;
}

std::vector<double> hdf5_values(hid_t file, const std::string& name, std::int64_t count) {
    const auto described = describe_hdf5(file, name);
    if (!described || !described->sample || described->sides.size() != 1)
        return {};
    const auto wanted = static_cast<hsize_t>(std::min(count, described->sides.front()));
    const Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle from(H5Dget_space(dataset.id()), H5Sclose);
    const Hdf5Handle to(H5Screate_simple(1, &wanted, nullptr), H5Sclose);
    const hsize_t start = 0;
    std::vector<double> values(static_cast<std::size_t>(wanted));
    if (wanted == 0 ||
        H5Sselect_hyperslab(from.id(), H5S_SELECT_SET, &start, nullptr, &wanted, nullptr) < 0 ||
        H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, to.id(), from.id(), H5P_DEFAULT, values.data()) <
            0)
        return {};
    return values;
}

} // namespace sextant::format
