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

/// Returns the path with which the file of an object was opened.
std::string path_of(hid_t object);

/// Throws InvalidFile unless `other`, which holds samples of `file`, is a regular file that may be
/// read: either `file` allows external files, or `inside` is true and `other` is in the folder of
/// `file` or below it.
void require_readable(const Hdf5Input& file, const std::filesystem::path& other, bool inside);

/// Notes a file from which samples of another file are read.
void note_referred(const std::string& path);
/// Returns the files that this process has noted, which include those that open_referred opened.
const std::vector<std::string>& noted_as_referred();

/// Opens an HDF5 file to which `file` refers. Searches where libhdf5 does: at an absolute path, in
/// the folders listed in the environment variable `variable`, in the folder of `file`, in the
/// working folder. Empty if the file is not found. Throws InvalidFile if it may not be read.
std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable);

/// Makes libhdf5 follow external links through open_referred, or refuse them unless `allowed`.
/// Takes effect in the whole process.
void guard_external_links(bool allowed);

/// Returns libhdf5's error about an external link that was not followed; "" if its last error
/// has another cause.
std::string complaint_of_link();

/// The source datasets of a virtual dataset. libhdf5 silently returns the fill value for samples of
/// missing sources; this class detects missing sources.
class Hdf5Sources {
  public:
    /// Input     the dataset's creation properties, and its depth in nested virtual datasets.
    /// Throws    InvalidFile if a source may not be read (require_readable), if it would be
    ///           rejected when read as a dataset of its own, or if no source is available.
    /// Cost      opens every source.
    Hdf5Sources(const Hdf5Input& file, const std::string& name, hid_t created, int depth);

    /// Sides of the dataset. A dataset that grows with its sources ends at the first missing
    /// source.
    const std::vector<std::int64_t>& sides() const { return sides_; }
    /// Over all sources: the sum of stored bytes, and the highest compression ratio.
    Bytes stored() const { return stored_; }
    Bytes ratio() const { return ratio_; }
    /// Remarks on missing samples, for users.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Throws InvalidFile, with a message that begins with `what`, if a source of a block is
    /// missing.
    void require(const std::string& what, std::span<const hsize_t> start,
                 std::span<const hsize_t> count) const;

  private:
    struct Source {
        std::string trouble = {}; ///< why no samples can be read; "" if they can
        std::vector<std::int64_t> sides = {};
        Bytes stored = 0, ratio = 1;
    };
    using SourceName = std::pair<std::string, std::string>; ///< names of file and dataset
    struct Mapping {
        Hdf5Handle where, from; ///< selections in the dataset and in its source
        SourceName name;
        const Source* source = nullptr; ///< null if the name is a pattern with %b
        bool grows = false;             ///< true if the selection is unlimited
        bool cut = false;               ///< true if the source is shorter than the selection
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
