// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/format/hdf5_api.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant::format {

/// Owns an identifier of libhdf5 and the function that closes it. Move-only.
class Hdf5Handle {
  public:
    Hdf5Handle() = default;
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept
        : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Hdf5Handle() {
        if (id_ >= 0)
            close_(id_);
    }
    hid_t id() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }

  private:
    hid_t id_ = -1;
    herr_t (*close_)(hid_t) = nullptr;
};

/// An HDF5 file opened for reading.
class Hdf5Input {
  public:
    /// Disables libhdf5's own messages. Throws InvalidFile if the path is not a regular file, or
    /// with libhdf5's reason if the file cannot be opened.
    Hdf5Input(const std::string& path, bool allow_external);

    hid_t id() const { return handle_.id(); }
    const std::string& path() const { return path_; }
    /// True if samples may be read from any other file to which this file refers.
    bool allows_external() const { return allow_external_; }

  private:
    std::string path_;
    Hdf5Handle handle_;
    bool allow_external_;
};

/// Returns the innermost message on libhdf5's error stack.
std::string hdf5_complaint();

/// Description of a dataset.
struct Hdf5Dataset {
    std::string name;
    std::vector<std::int64_t> sides; ///< length of each axis
    std::optional<Sample> sample;    ///< empty if the type is not a sample type
    std::string elements_are = {};   ///< such as "complex numbers"; "" if there is a sample type
    std::string trouble = {}; ///< why no source of a virtual dataset can be read; "" if one can
    std::int64_t elements() const;
};

/// Returns the lengths of the axes of a dataspace.
std::vector<std::int64_t> sides_of(hid_t space);

/// Describes a dataset; empty if there is none of that name.
std::optional<Hdf5Dataset> describe_hdf5(const Hdf5Input& file, const std::string& name);

/// A link that was not followed, and the reason.
struct Hdf5Link {
    std::string name, reason;
};

/// The contents of a file.
struct Hdf5Contents {
    std::vector<Hdf5Dataset> datasets; ///< in file order
    /// Datasets by their other names: those of soft links and of further hard links.
    std::vector<Hdf5Dataset> aliases;
    std::vector<Hdf5Link> links;     ///< to objects that are missing, or may not be read
    std::vector<std::string> groups; ///< names of all groups except the root
};

/// Lists every dataset of the file; targets of external links only if those are allowed. Throws
/// InvalidFile if the file has too many objects.
Hdf5Contents list_hdf5(const Hdf5Input& file);

/// These return an attribute of an object as text ("" if it is missing) or as a number (empty if it
/// is missing).
std::string hdf5_text(const Hdf5Input& file, const std::string& object,
                      const std::string& attribute);
/// Returns the texts of an attribute that is a list of at most `most` of them; empty if there is no
/// such attribute.
std::vector<std::string> hdf5_texts(const Hdf5Input& file, const std::string& object,
                                    const std::string& attribute, std::size_t most);
std::optional<double> hdf5_number(const Hdf5Input& file, const std::string& object,
                                  const std::string& attribute);

/// Returns the values of an attribute that is a list of at most `most` numbers; empty if there is
/// no such attribute.
std::vector<double> hdf5_numbers(const Hdf5Input& file, const std::string& object,
                                 const std::string& attribute, std::size_t most);

/// Returns up to `count` values from the start of a dataset as doubles; empty if they cannot be
/// read.
std::vector<double> hdf5_values(const Hdf5Input& file, const std::string& dataset,
                                std::int64_t count);

/// Reads a block of a dataset. Returns false if it could not be read.
bool read_hdf5_block(const Hdf5Input& file, const std::string& dataset,
                     std::span<const hsize_t> start, std::span<const hsize_t> count, hid_t type,
                     void* to);

} // namespace sextant::format
