// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hdf5.h>

namespace sextant::test {

/// Writes HDF5 files with the HDF5 library; creates groups as needed.
class Hdf5File {
  public:
    explicit Hdf5File(const std::string& path)
        : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)),
          links_(H5Pcreate(H5P_LINK_CREATE)) {
        H5Pset_create_intermediate_group(links_, 1);
    }
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;
    ~Hdf5File() {
        H5Pclose(links_);
        H5Fclose(file_);
    }

    /// Writes a dataset of type `stored` from values of type `given`; it is chunked and deflated if
    /// `chunk` is given.
    template <class T>
    void dataset(const std::string& name, const std::vector<hsize_t>& sides, hid_t stored,
                 hid_t given, const std::vector<T>& values,
                 const std::vector<hsize_t>& chunk = {}) {
        const hid_t space = H5Screate_simple(static_cast<int>(sides.size()), sides.data(), nullptr);
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        if (!chunk.empty()) {
            H5Pset_chunk(created, static_cast<int>(chunk.size()), chunk.data());
            H5Pset_deflate(created, 4);
        }
        const hid_t set =
            H5Dcreate2(file_, name.c_str(), stored, space, links_, created, H5P_DEFAULT);
        H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Dclose(set);
        H5Pclose(created);
        H5Sclose(space);
    }
    /// A dataset whose bytes are in another file.
    void external(const std::string& name, const std::vector<hsize_t>& sides, hid_t type,
                  const std::string& file, hsize_t bytes) {
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_external(created, file.c_str(), 0, bytes);
        create(name, sides, type, created);
    }
    /// A dataset with one chunk of these stored bytes.
    void chunk(const std::string& name, const std::vector<hsize_t>& sides, hid_t type,
               const std::vector<hsize_t>& chunk, const std::vector<H5Z_filter_t>& filters,
               const std::string& bytes) {
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(created, static_cast<int>(chunk.size()), chunk.data());
        for (const H5Z_filter_t filter : filters)
            H5Pset_filter(created, filter, H5Z_FLAG_OPTIONAL, 0, nullptr);
        create(name, sides, type, created);
        const hid_t set = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
        const std::vector<hsize_t> first(sides.size());
        if (!bytes.empty())
            H5Dwrite_chunk(set, H5P_DEFAULT, 0, first.data(), bytes.size(), bytes.data());
        H5Dclose(set);
    }
    void link(const std::string& name, const std::string& file, const std::string& object) {
        H5Lcreate_external(file.c_str(), object.c_str(), file_, name.c_str(), links_, H5P_DEFAULT);
    }
    void soft_link(const std::string& name, const std::string& target) {
        H5Lcreate_soft(target.c_str(), file_, name.c_str(), links_, H5P_DEFAULT);
    }
    void hard_link(const std::string& name, const std::string& target) {
        H5Lcreate_hard(file_, target.c_str(), file_, name.c_str(), links_, H5P_DEFAULT);
    }
    /// A virtual stack of u8 frames; each source file contributes `frames` frames of its dataset
    /// "d".
    void stack(const std::string& name, const std::vector<std::string>& sources, hsize_t frames,
               hsize_t height, hsize_t width) {
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        const std::vector<hsize_t> sides{frames * sources.size(), height, width},
            part{frames, height, width};
        const hid_t where = H5Screate_simple(3, sides.data(), nullptr);
        const hid_t from = H5Screate_simple(3, part.data(), nullptr);
        std::vector<hsize_t> start{0, 0, 0};
        for (const std::string& source : sources) {
            H5Sselect_hyperslab(where, H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr);
            H5Pset_virtual(created, where, source.c_str(), "d", from);
            start[0] += frames;
        }
        H5Sclose(where);
        H5Sclose(from);
        create(name, sides, H5T_STD_U8LE, created);
    }
    /// A virtual stack with an unlimited number of source files, whose numbers (0, 1, ...) replace
    /// %b in `pattern`.
    void growing_stack(const std::string& name, const std::string& pattern, hsize_t frames,
                       hsize_t height, hsize_t width) {
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        const std::vector<hsize_t> sides{0, height, width}, most{H5S_UNLIMITED, height, width},
            part{frames, height, width}, start{0, 0, 0}, step{frames, 1, 1},
            count{H5S_UNLIMITED, 1, 1};
        const hid_t where = H5Screate_simple(3, sides.data(), most.data());
        const hid_t from = H5Screate_simple(3, part.data(), nullptr);
        H5Sselect_hyperslab(where, H5S_SELECT_SET, start.data(), step.data(), count.data(),
                            part.data());
        H5Pset_virtual(created, where, pattern.c_str(), "d", from);
        H5Dclose(
            H5Dcreate2(file_, name.c_str(), H5T_STD_U8LE, where, links_, created, H5P_DEFAULT));
        H5Pclose(created);
        H5Sclose(where);
        H5Sclose(from);
    }
    void group(const std::string& name) {
        H5Gclose(H5Gcreate2(file_, name.c_str(), links_, H5P_DEFAULT, H5P_DEFAULT));
    }
    /// An attribute that is a list of texts of variable length, as h5py writes it.
    void texts(const std::string& object, const std::string& name,
               const std::vector<std::string>& values) {
        std::vector<const char*> letters;
        for (const std::string& value : values)
            letters.push_back(value.c_str());
        const hsize_t count = values.size();
        const hid_t space = H5Screate_simple(1, &count, nullptr), type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        const hid_t attribute = H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space,
                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, type, letters.data());
        H5Aclose(attribute);
        H5Tclose(type);
        H5Sclose(space);
    }
    void number(const std::string& object, const std::string& name, double value) {
        attribute(object, name, H5T_NATIVE_DOUBLE, &value);
    }
    void numbers(const std::string& object, const std::string& name,
                 const std::vector<double>& values) {
        const hsize_t count = values.size();
        const hid_t space = H5Screate_simple(1, &count, nullptr);
        const hid_t attribute =
            H5Acreate_by_name(file_, object.c_str(), name.c_str(), H5T_NATIVE_DOUBLE, space,
                              H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, H5T_NATIVE_DOUBLE, values.data());
        H5Aclose(attribute);
        H5Sclose(space);
    }
    /// A text attribute of variable or fixed length.
    void text(const std::string& object, const std::string& name, const std::string& value,
              bool variable = false) {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, variable ? H5T_VARIABLE : value.size());
        const char* letters = value.c_str();
        attribute(object, name, type, variable ? static_cast<const void*>(&letters) : letters);
        H5Tclose(type);
    }

  private:
    /// Creates a dataset with the creation property list `created`, and closes this list.
    void create(const std::string& name, const std::vector<hsize_t>& sides, hid_t type,
                hid_t created) {
        const hid_t space = H5Screate_simple(static_cast<int>(sides.size()), sides.data(), nullptr);
        H5Dclose(H5Dcreate2(file_, name.c_str(), type, space, links_, created, H5P_DEFAULT));
        H5Pclose(created);
        H5Sclose(space);
    }
    void attribute(const std::string& object, const std::string& name, hid_t type,
                   const void* value) {
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t made = H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space,
                                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(made, type, value);
        H5Aclose(made);
        H5Sclose(space);
    }
    hid_t file_, links_;
};

} // namespace sextant::test
