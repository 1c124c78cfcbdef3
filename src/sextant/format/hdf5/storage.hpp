// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/hdf5/library.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant::format {

/// The source datasets of a virtual dataset. libhdf5 silently returns the fill value for samples of
/// missing sources, so this class detects missing sources.
class Hdf5Sources {
  public:
    /// Input     the creation properties of the dataset, and its depth in nested virtual datasets.
    /// Throws    InvalidFile if a source must not be read (require_readable), if a source could not
    ///           be read as a dataset of its own, or if no source is available.
    /// Cost      opens every source.
    Hdf5Sources(const Hdf5Input& file, const std::string& name, hid_t created, int depth);

    /// The sides of the dataset. A dataset that grows with its sources ends at the first missing
    /// source.
    const std::vector<std::int64_t>& sides() const { return sides_; }
    /// The sum of the stored bytes of all sources, and their highest compression ratio.
    Bytes stored() const { return stored_; }
    Bytes ratio() const { return ratio_; }
    /// Remarks for the user on missing samples.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Throws InvalidFile if a source of a block is missing. The message begins with `what`.
    void require(const std::string& what, std::span<const hsize_t> start,
                 std::span<const hsize_t> count) const;

  private:
    struct Source {
        std::string trouble = {}; ///< reason why no samples can be read; "" if they can be read
        std::vector<std::int64_t> sides = {};
        Bytes stored = 0, ratio = 1;
    };
    using SourceName = std::pair<std::string, std::string>; ///< names of file and dataset
    struct Mapping {
        Hdf5Handle where, from; ///< selections in the dataset and in the source
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

/// Locates the samples of a dataset, which are in its own file, in external files or, for a virtual
/// dataset, in other datasets. Checks that the samples can be read.
class Hdf5Storage {
  public:
    /// Throws    InvalidFile if a file with samples must not be read or is not a regular file, if
    ///           samples were never written, if a filter is not installed, if chunks are larger
    ///           than their stored bytes can decode to, or if no source of a virtual dataset is
    ///           available.
    /// Cost      opens all sources of a virtual dataset.
    Hdf5Storage(const Hdf5Input& file, const std::string& name, int depth = 0);

    const std::vector<std::int64_t>& sides() const { return sides_; }
    /// The lengths of a chunk along the axes; empty if the dataset is not chunked.
    const std::vector<std::int64_t>& chunk() const { return chunk_; }
    Bytes chunk_bytes() const { return chunk_bytes_; }
    Bytes sample_bytes() const { return sample_; } ///< size of a stored sample
    /// True if deflate is the only filter, except for shuffle before it and a checksum after it.
    bool is_deflated() const { return deflated_; }
    bool is_shuffled() const { return shuffled_; }
    /// The number of bytes that the samples take in files.
    Bytes stored() const { return stored_; }
    /// Upper bound on the compression ratio.
    Bytes ratio() const { return ratio_; }
    bool is_virtual() const { return sources_.has_value(); }
    /// Remarks for the user on missing samples.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Opens the dataset with a cache for decoded chunks. Virtual datasets that grow with their
    /// sources end at the first missing source.
    Hdf5Handle open(const Hdf5Input& file, Bytes cache) const;

    /// Throws InvalidFile if a source of a block is missing. The message begins with `what`.
    void require(const std::string& what, std::span<const hsize_t> start,
                 std::span<const hsize_t> count) const;

  private:
    void find_external(const Hdf5Input& file, hid_t created);
    void find_chunks(hid_t dataset, hid_t created);
    void require_filters(hid_t dataset, hid_t created);

    std::string path_, name_;
    std::vector<std::int64_t> sides_, chunk_;
    Bytes sample_ = 1, chunk_bytes_ = 0, stored_ = 0, ratio_ = 1;
    bool deflated_ = false, shuffled_ = false;
    std::string prefix_; ///< folder of files in external storage
    std::vector<std::string> remarks_;
    std::optional<Hdf5Sources> sources_; ///< sources of a virtual dataset
};

} // namespace sextant::format
