// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/format/hdf5/library.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// The description of a dataset.
struct Hdf5Dataset {
    std::string name;
    std::vector<std::int64_t> sides; ///< length of each axis
    std::optional<Sample> sample;    ///< empty if the type is not supported
    std::string elements_are = {};   ///< such as "complex numbers"; "" if the type is supported
    std::string trouble = {};        ///< reason why a virtual dataset has no readable source; or ""
    std::int64_t elements() const;
};

/// Describes a dataset; empty if no dataset has this name.
std::optional<Hdf5Dataset> describe_hdf5(const Hdf5Input& file, const std::string& name);

/// A link that was not followed, and the reason.
struct Hdf5Link {
    std::string name, reason;
};

/// The contents of a file.
struct Hdf5Contents {
    std::vector<Hdf5Dataset> datasets; ///< in file order
    /// Datasets under their other names, given by soft links and additional hard links.
    std::vector<Hdf5Dataset> aliases;
    std::vector<Hdf5Link> links;     ///< to objects that are missing or must not be read
    std::vector<std::string> groups; ///< names of all groups except the root
};

/// Lists all datasets of a file. Targets of external links are included only if external files are
/// allowed. Throws InvalidFile if the file has too many objects.
Hdf5Contents list_hdf5(const Hdf5Input& file);

/// Returns up to `count` values from the start of a dataset as doubles; empty if reading fails.
std::vector<double> hdf5_values(const Hdf5Input& file, const std::string& dataset,
                                std::int64_t count);

/// Reads a block of a dataset. Returns false if reading fails.
bool read_hdf5_block(const Hdf5Input& file, const std::string& dataset,
                     std::span<const hsize_t> start, std::span<const hsize_t> count, hid_t type,
                     void* to);

} // namespace sextant::format
