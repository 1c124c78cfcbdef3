// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <string>
#include <vector>

namespace sextant::format {

/// A set of partial images of one scene, as a JSON manifest describes it; docs/manifest.md has the
/// schema. The pixels of partial i are read by `read_pixels(paths[i], header(), to)`, which needs
/// no header in the file: raw pixels have none.
struct Partials {
    ImageShape shape;
    ElementFormat element;
    std::vector<std::string> paths; ///< one file a partial, in the order of their numbers
    std::vector<int> order;         ///< order[i]: the partial at depth i, front to back
    ImageHeader header() const { return {shape, element}; }
};

/// Whether a path names a manifest (by its extension, ".json").
bool is_manifest(const std::string& path);

/// Reads and checks a manifest: every file it names exists, the order is a permutation.
/// Throws InvalidFile, naming the field, its value and what was expected.
Partials read_manifest(const std::string& path);

/// The shape and element alone, whatever the rest of the manifest says. Throws InvalidFile.
ImageHeader read_manifest_header(const std::string& path);

/// Writes the manifest alone: the files of its partials may follow. Paths are written relative to
/// its folder. Throws InvalidFile, also for partials that read_manifest would not accept.
void write_manifest(const std::string& path, const Partials& partials);

} // namespace sextant::format
