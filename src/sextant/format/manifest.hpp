// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/format.hpp"

#include <string>
#include <vector>

namespace sextant::format {

/// A set of partial images of one scene, described by a JSON manifest; docs/manifest.md has the
/// schema. `read_pixels(paths[i], header(), to)` reads partial i; raw files have no header of their
/// own.
struct Partials {
    ImageShape shape;
    ElementFormat element;
    std::vector<std::string> paths; ///< file of each partial image, by number
    std::vector<int> order;         ///< order[i]: number of the i-th partial from the front

    ImageHeader header() const { return {shape, element}; }
};

/// True if a path names a manifest (extension ".json").
bool is_manifest(const std::string& path);

/// Reads and checks a manifest: every file exists, the order is a permutation. Throws InvalidFile
/// with the field, its value and what was expected.
Partials read_manifest(const std::string& path);

/// Reads shape and element only, ignoring the rest of the manifest. Throws InvalidFile.
ImageHeader read_manifest_header(const std::string& path);

/// Writes only the manifest; the partial images may be written later. Paths are relative to its
/// folder. Throws InvalidFile if the file cannot be written or read_manifest would reject it.
void write_manifest(const std::string& path, const Partials& partials);

} // namespace sextant::format
