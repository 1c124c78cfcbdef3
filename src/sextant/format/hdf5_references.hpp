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

// An HDF5 file may name other files: by external links, by the sources of virtual datasets, and by
// datasets in external storage. This decides which of them may be opened.
namespace sextant::format {

/// The path by which the file of an object was opened.
std::string path_of(hid_t object);

/// Throws InvalidFile unless a file with samples of `file` is a regular file that may be read:
/// `file` allows others, or else, if `inside`, it lies in the folder of `file` or below it.
void require_readable(const Hdf5Input& file, const std::filesystem::path& other, bool inside);

/// Opens another HDF5 file where libhdf5 looks for it: at an absolute path, in the folders that an
/// environment variable names, in the folder of the file that refers to it, in the working folder.
/// Nothing where there is none. Throws InvalidFile for one that may not be read.
std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable);

/// From here on libhdf5 follows external links by open_referred, and only if they are allowed. This
/// holds for the whole process.
void guard_external_links(bool allowed);

/// What the library's complaint says of a link that was not followed; "" if it is about something
/// else.
std::string complaint_of_link();

/// The datasets that the samples of a virtual dataset come from. libhdf5 gives fill values for the
/// samples of one that is missing.
class Hdf5Sources {
  public:
    /// Input     the properties that the dataset was created with, and how many virtual datasets
    ///           lead to it.
    /// Throws InvalidFile where a source may not be read (hdf5_references.hpp) or would be refused
    /// by itself, and where none is there.
    /// Cost      opens every source.
    Hdf5Sources(const Hdf5Input& file, const std::string& name, hid_t created, int depth);

    /// Of the dataset: one that grows with its sources ends where the first is missing.
    const std::vector<std::int64_t>& sides() const { return sides_; }
    /// Of all sources.
    Bytes stored() const { return stored_; }
    Bytes ratio() const { return ratio_; }
    /// Samples that are missing, as users should know.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Throws InvalidFile, beginning with `what`, if a source of a block is missing.
    void require(const std::string& what, std::span<const hsize_t> start,
                 std::span<const hsize_t> count) const;

  private:
    struct Source {
        std::string trouble = {}; ///< why it gives no samples; "" where it does
        std::vector<std::int64_t> sides = {};
        Bytes stored = 0, ratio = 1;
    };
    using SourceName = std::pair<std::string, std::string>; ///< of the file, and of the dataset
    struct Mapping {
        Hdf5Handle where, from; ///< selections in the dataset and in its source
        SourceName name;
        const Source* source = nullptr; ///< null where its name has a number
        bool grows = false;             ///< has no end
        bool cut = false; ///< whether its source is shorter than what is taken from it
        std::vector<hsize_t> first = {}, last = {}; ///< corners
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
