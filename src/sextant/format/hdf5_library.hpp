// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/sample.hpp"

#include <cstdint>
#include <optional>
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

/// Opens a file to read, with the library's own messages off. Throws InvalidFile with its reason.
Hdf5Handle open_hdf5_file(const std::string& path);

/// Of what the library said last, the innermost reason.
std::string hdf5_complaint();

/// A dataset as far as frames can be made of it.
struct Hdf5Dataset {
    std::string name;
    std::vector<std::int64_t> sides; ///< its axes
    std::optional<Sample> sample;    ///< none where it holds something else
    std::int64_t elements() const;
};

/// What a dataset is; nothing where there is none of that name.
std::optional<Hdf5Dataset> describe_hdf5(hid_t file, const std::string& name);

/// Every dataset of the file, in its order. Throws InvalidFile where there are too many.
std::vector<Hdf5Dataset> list_hdf5(hid_t file, const std::string& path);

/// An attribute of an object as text or number; "" or nothing where there is none such.
std::string hdf5_text(hid_t file, const std::string& object, const std::string& attribute);
std::optional<double> hdf5_number(hid_t file, const std::string& object,
                                  const std::string& attribute);

/// The first `count` values of a dataset as doubles, fewer where it has fewer.
std::vector<double> hdf5_values(hid_t file, const std::string& dataset, std::int64_t count);

} // namespace sextant::format
