// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/sample.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

namespace sextant::format {

/// An identifier of the library's, closed by the function that fits it. Moves, does not copy.
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

/// An HDF5 file, open to read.
class Hdf5Input {
  public:
    /// Turns the library's own messages off. Throws InvalidFile with its reason, also where the
    /// path is not that of a regular file.
    Hdf5Input(const std::string& path, bool allow_external);

    hid_t id() const { return handle_.id(); }
    const std::string& path() const { return path_; }
    /// Whether its samples may come from any other file that it names.
    bool allows_external() const { return allow_external_; }

  private:
    std::string path_;
    Hdf5Handle handle_;
    bool allow_external_;
};

/// Of what the library said last, the innermost reason.
std::string hdf5_complaint();

/// A dataset as far as frames can be made of it.
struct Hdf5Dataset {
    std::string name;
    std::vector<std::int64_t> sides; ///< its axes
    std::optional<Sample> sample;    ///< none where it holds something else
    std::int64_t elements() const;
};

/// The lengths of the axes of a dataspace.
std::vector<std::int64_t> sides_of(hid_t space);

/// What a dataset is; nothing where there is none of that name.
std::optional<Hdf5Dataset> describe_hdf5(const Hdf5Input& file, const std::string& name);

/// What a file holds.
struct Hdf5Contents {
    std::vector<Hdf5Dataset> datasets; ///< in the file's order
    std::vector<std::string> links;    ///< external ones
};

/// Every dataset of the file; those that external links lead to only if they are allowed. Throws
/// InvalidFile where there are too many.
Hdf5Contents list_hdf5(const Hdf5Input& file);

/// An attribute of an object as text or number; "" or nothing where there is none such.
std::string hdf5_text(const Hdf5Input& file, const std::string& object,
                      const std::string& attribute);
std::optional<double> hdf5_number(const Hdf5Input& file, const std::string& object,
                                  const std::string& attribute);

/// The first `count` values of a dataset as doubles, fewer where it has fewer, none where they
/// cannot be read.
std::vector<double> hdf5_values(const Hdf5Input& file, const std::string& dataset,
                                std::int64_t count);

/// Reads a block of a dataset. Returns whether it could be read.
bool read_hdf5_block(const Hdf5Input& file, const std::string& dataset,
                     std::span<const hsize_t> start, std::span<const hsize_t> count, hid_t type,
                     void* to);

} // namespace sextant::format
