// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/format.hpp"

#include <string>
#include <vector>

namespace sextant::format {

/// A set of partial images of one scene, described by a JSON manifest (schema: docs/manifest.md).
/// `read_pixels(paths[i], header(), to)` reads partial image i; raw files have no header of their
/// own.
struct Partials {
    ImageShape shape;
    ElementFormat element;
    std::vector<std::string> paths; ///< file of each partial image, by index
    std::vector<int> order;         ///< order[i]: index of the i-th partial image from the front

    ImageHeader header() const { return {shape, element}; }
};

/// True if a path names a manifest (extension ".json").
bool is_manifest(const std::string& path);

/// Reads and checks a manifest: every file must exist, and the order must be a permutation. Throws
/// InvalidFile with the field, its value and what was expected.
Partials read_manifest(const std::string& path);

/// Reads only the shape and the element, and ignores the rest of the manifest. Throws InvalidFile.
ImageHeader read_manifest_header(const std::string& path);

/// Writes only the manifest; the partial images may be written later. Paths are relative to the
/// folder of the manifest. Throws InvalidFile if the file cannot be written or if read_manifest
/// would reject it.
void write_manifest(const std::string& path, const Partials& partials);

} // namespace sextant::format
