// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/format/hdf5_library.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// Description of a dataset.
struct Hdf5Dataset {
    std::string name;
    std::vector<std::int64_t> sides; ///< length of each axis
    std::optional<Sample> sample;    ///< empty if the type is not a sample type
    std::string elements_are = {};   ///< such as "complex numbers"; "" if there is a sample type
    std::string trouble = {}; ///< why no source of a virtual dataset can be read; "" if one can
    std::int64_t elements() const;
};

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

/// Returns up to `count` values from the start of a dataset as doubles; empty if they cannot be
/// read.
std::vector<double> hdf5_values(const Hdf5Input& file, const std::string& dataset,
                                std::int64_t count);

/// Reads a block of a dataset. Returns false if it could not be read.
bool read_hdf5_block(const Hdf5Input& file, const std::string& dataset,
                     std::span<const hsize_t> start, std::span<const hsize_t> count, hid_t type,
                     void* to);

} // namespace sextant::format
