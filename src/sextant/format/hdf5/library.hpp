// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/hdf5/api.hpp"

#include <cstdint>
#include <optional>
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
    /// Disables libhdf5's own error messages. Throws InvalidFile if the path is not a regular file
    /// or if libhdf5 cannot open the file; the message has libhdf5's reason.
    Hdf5Input(const std::string& path, bool allow_external);

    hid_t id() const { return handle_.id(); }
    const std::string& path() const { return path_; }
    /// True if samples may be read from other files that this file refers to.
    bool allows_external() const { return allow_external_; }

  private:
    std::string path_;
    Hdf5Handle handle_;
    bool allow_external_;
};

/// Returns the message of the innermost error on libhdf5's stack.
std::string hdf5_complaint();

/// Returns the lengths of the axes of a dataspace.
std::vector<std::int64_t> sides_of(hid_t space);

/// Return an attribute of an object as text ("" if it is missing) or as a number (empty if it is
/// missing).
std::string hdf5_text(const Hdf5Input& file, const std::string& object,
                      const std::string& attribute);
/// Returns the strings of an attribute that is a list of at most `most` strings; otherwise empty.
std::vector<std::string> hdf5_texts(const Hdf5Input& file, const std::string& object,
                                    const std::string& attribute, std::size_t most);
std::optional<double> hdf5_number(const Hdf5Input& file, const std::string& object,
                                  const std::string& attribute);

/// Returns the numbers of an attribute that is a list of at most `most` numbers; otherwise empty.
std::vector<double> hdf5_numbers(const Hdf5Input& file, const std::string& object,
                                 const std::string& attribute, std::size_t most);

} // namespace sextant::format
