// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/library.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <limits>

namespace sextant::format {

namespace {

Hdf5Handle open_attribute(const Hdf5Input& file, const std::string& object,
                          const std::string& attribute) {
    if (H5Aexists_by_name(file.id(), object.c_str(), attribute.c_str(), H5P_DEFAULT) <= 0)
        return {};
    return {H5Aopen_by_name(file.id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose};
}

/// Returns the first error on the stack, which is the innermost, through `user`.
herr_t take_innermost(unsigned number, const H5E_error2_t* error, void* user) {
    if (number == 0 && error->desc)
        *static_cast<std::string*>(user) = error->desc;
    return 0;
}

} // namespace

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

std::string hdf5_complaint() {
    std::string complaint;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &complaint);
    return complaint;
}

Hdf5Input::Hdf5Input(const std::string& path, bool allow_external)
    : path_(path), allow_external_(allow_external) {
    const SourceFile regular(path); // reports a wrong path with a clearer error than libhdf5
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // for this thread only; errors are thrown instead
    handle_ = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    if (!handle_) // another program may be writing the file (single writer, multiple readers)
        handle_ = {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT),
                   H5Fclose};
    if (!handle_)
        throw InvalidFile(path, "cannot be read as HDF5: " + hdf5_complaint());
}

std::vector<std::string> hdf5_texts(const Hdf5Input& file, const std::string& object,
                                    const std::string& attribute, std::size_t most) {
    const Hdf5Handle handle = open_attribute(file, object, attribute);
    const Hdf5Handle stored(handle ? H5Aget_type(handle.id()) : -1, H5Tclose);
    const Hdf5Handle space(handle ? H5Aget_space(handle.id()) : -1, H5Sclose);
    if (!stored || !space || H5Tget_class(stored.id()) != H5T_STRING)
        return {};
    const hssize_t points = H5Sget_simple_extent_npoints(space.id());
    if (points < 1 || static_cast<std::size_t>(points) > most)
        return {};
    const auto count = static_cast<std::size_t>(points);
    std::vector<std::string> texts;
    if (H5Tis_variable_str(stored.id()) > 0) {
        std::vector<char*> letters(count, nullptr);
        if (H5Aread(handle.id(), stored.id(), letters.data()) < 0)
            return {};
        for (char* const each : letters) {
            texts.emplace_back(each ? each : "");
            H5free_memory(each);
        }
        return texts;
    }
    constexpr std::size_t longest = 1 << 16;
    const std::size_t size = H5Tget_size(stored.id());
    if (size > longest)
        return {};
    std::string all(size * count, '\0');
    if (H5Aread(handle.id(), stored.id(), all.data()) < 0)
        return {};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string text = all.substr(i * size, size);
        texts.push_back(text.substr(0, text.find('\0')));
    }
    return texts;
}

std::string hdf5_text(const Hdf5Input& file, const std::string& object,
                      const std::string& attribute) {
    const std::vector<std::string> texts = hdf5_texts(file, object, attribute, 1);
    return texts.empty() ? "" : texts.front();
}

std::vector<double> hdf5_numbers(const Hdf5Input& file, const std::string& object,
                                 const std::string& attribute, std::size_t most) {
    const Hdf5Handle handle = open_attribute(file, object, attribute);
    const Hdf5Handle space(handle ? H5Aget_space(handle.id()) : -1, H5Sclose);
    if (!space)
        return {};
    const hssize_t count = H5Sget_simple_extent_npoints(space.id());
    if (count < 1 || count > static_cast<hssize_t>(most))
        return {};
    std::vector<double> values(static_cast<std::size_t>(count));
    if (H5Aread(handle.id(), H5T_NATIVE_DOUBLE, values.data()) < 0)
        return {};
    return values;
}

std::optional<double> hdf5_number(const Hdf5Input& file, const std::string& object,
                                  const std::string& attribute) {
    const std::vector<double> values = hdf5_numbers(file, object, attribute, 1);
    return values.empty() ? std::nullopt : std::optional(values.front());
}

} // namespace sextant::format
