// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/hdf5_library.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// An HDF5 file may name other files: by external links, sources of virtual datasets, and external
// storage. This file decides which of them may be opened.
namespace sextant::format {

/// Returns the path by which the file of an object was opened.
std::string path_of(hid_t object);

/// Throws InvalidFile unless `other`, which holds samples of `file`, is a regular file that may be
/// read: `file` allows others, or `inside` is true and it is in the folder of `file` or below it.
void require_readable(const Hdf5Input& file, const std::filesystem::path& other, bool inside);

/// Opens another HDF5 file where libhdf5 looks for it: at an absolute path, in the folders of an
/// environment variable, in the folder of the referring file, in the working folder. Empty if there
/// is none. Throws InvalidFile if it may not be read.
std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable);

/// Makes libhdf5 follow external links by open_referred, and only if allowed, from now on and in
/// the whole process.
void guard_external_links(bool allowed);

/// Returns the library's error about an external link that was not followed; "" if its last error
/// is another one.
std::string complaint_of_link();

/// The source datasets of a virtual dataset. libhdf5 fills in samples of missing sources; this
/// class detects them.
class Hdf5Sources {
  public:
    /// Input     the dataset's creation properties, and how many virtual datasets led to it.
    /// Throws    InvalidFile if a source may not be read (hdf5_references.hpp) or would be refused
    ///           as a dataset of its own, or if no source is available.
    /// Cost      opens every source.
    Hdf5Sources(const Hdf5Input& file, const std::string& name, hid_t created, int depth);

    /// Sides of the dataset; one that grows with its sources ends at the first missing one.
    const std::vector<std::int64_t>& sides() const { return sides_; }
    /// Totals over all sources: stored bytes and highest compression ratio.
    Bytes stored() const { return stored_; }
    Bytes ratio() const { return ratio_; }
    /// Missing samples, to be shown to users.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Throws InvalidFile, beginning with `what`, if a source of a block is missing.
    void require(const std::string& what, std::span<const hsize_t> start,
                 std::span<const hsize_t> count) const;

  private:
    struct Source {
        std::string trouble = {}; ///< why it gives no samples; "" if it does
        std::vector<std::int64_t> sides = {};
        Bytes stored = 0, ratio = 1;
    };
    using SourceName = std::pair<std::string, std::string>; ///< file, dataset
    struct Mapping {
        Hdf5Handle where, from; ///< selections in the dataset and in its source
        SourceName name;
        const Source* source = nullptr;             ///< null for numbered names
        bool grows = false;                         ///< has no fixed end
        bool cut = false;                           ///< its source is shorter than the selection
        std::vector<hsize_t> first = {}, last = {}; ///< corners of the selection in the dataset
    };

    void find(const Hdf5Input& file, hid_t created, int depth);
    void find_numbered(const Hdf5Input& file, const SourceName& pattern, int depth);
    const Source& source(const Hdf5Input& file, const SourceName& name, int depth);
    Source look_at(const Hdf5Input& file, const SourceName& name, int depth) const;
    void find_sides(const Hdf5Input& file);
    void remark_on_missing();
    void remark_on_gaps();

    std::string path_, name_;
    std::map<SourceName, Source> sources_;
    std::vector<Mapping> mappings_;
    std::vector<std::int64_t> sides_;
    Bytes stored_ = 0, ratio_ = 1;
    std::vector<std::string> remarks_;
};

} // namespace sextant::format
