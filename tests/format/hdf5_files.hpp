// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hdf5.h>

namespace sextant::test {

/// Writes HDF5 files by the library, with groups made as they are needed.
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

    /// A dataset of a type in the file from values of a type in memory; in chunks, deflated, where
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
    void group(const std::string& name) {
        H5Gclose(H5Gcreate2(file_, name.c_str(), links_, H5P_DEFAULT, H5P_DEFAULT));
    }
    void number(const std::string& object, const std::string& name, double value) {
        attribute(object, name, H5T_NATIVE_DOUBLE, &value);
    }
    /// As text of variable length, or of a fixed one.
    void text(const std::string& object, const std::string& name, const std::string& value,
              bool variable) {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, variable ? H5T_VARIABLE : value.size());
        const char* letters = value.c_str();
        attribute(object, name, type, variable ? static_cast<const void*>(&letters) : letters);
        H5Tclose(type);
    }

  private:
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
