// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/hdf5_library.hpp"
#include "sextant/format/hdf5_references.hpp"
#include "sextant/format/read_apart.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zlib.h>

namespace sextant::format {

/// Chunks up to here are decoded as a whole, whatever their compression.
inline constexpr Bytes modest_chunk = Bytes{1} << 28;

/// Where the samples of a dataset are stored, and whether they can be read: in its own file, in
/// external storage, or, if it is virtual, in other datasets.
class Hdf5Storage {
  public:
    /// Throws InvalidFile where a file with samples may not be read or is not a regular file, where
    /// the samples were never written, where a filter is missing, and where a chunk claims more
    /// than what is stored of it can give; for virtual datasets also if no source is there.
    /// Cost      opens all sources of a virtual dataset.
    Hdf5Storage(const Hdf5Input& file, const std::string& name, int depth = 0);

    const std::vector<std::int64_t>& sides() const { return sides_; }
    /// The lengths of a chunk along the axes; none where samples are not in chunks.
    const std::vector<std::int64_t>& chunk() const { return chunk_; }
    Bytes chunk_bytes() const { return chunk_bytes_; }
    Bytes sample_bytes() const { return sample_; } ///< of a sample as it is stored
    /// Whether chunks are only deflated, and perhaps shuffled before or summed up behind.
    bool is_deflated() const { return deflated_; }
    bool is_shuffled() const { return shuffled_; }
    /// How many bytes the samples take in files.
    Bytes stored() const { return stored_; }
    /// No more bytes than this come out of a stored one.
    Bytes ratio() const { return ratio_; }
    bool is_virtual() const { return sources_.has_value(); }
    /// What users should know: samples that are missing.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Opens the dataset with room for decoded chunks. The samples of virtual datasets that grow
    /// with their sources end where the first one is missing.
    Hdf5Handle open(const Hdf5Input& file, Bytes cache) const;

    /// Throws InvalidFile, beginning with `what`, if a source of a block is missing.
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
    std::string prefix_; ///< the folder of files in external storage
    std::vector<std::string> remarks_;
    std::optional<Hdf5Sources> sources_; ///< of a virtual dataset
};

/// A deflated chunk of HDF5 that is too large to be decoded as a whole: gives its samples in order
/// and keeps none. If its bytes are shuffled (first the first bytes of all samples, then the second
/// ones), each of them has a decoder of its own.
///
/// Cost      the chunk is decoded from its start on; shuffled, up to each byte's place again, and
///           again from the start for samples in front of the last ones that were read.
class Hdf5Inflater {
  public:
    /// `pace` is called now and then.
    Hdf5Inflater(std::vector<std::byte> stored, Elements samples, Bytes size, bool shuffled,
                 Pace pace);

    /// Reads samples as they are stored, from number `first` on. Throws Error for damaged data.
    void read(Elements first, std::span<std::byte> to);

  private:
    struct End {
        void operator()(z_stream* stream) const;
    };
    /// A decoder, and how many bytes came out of it.
    struct Decoder {
        std::unique_ptr<z_stream, End> stream;
        Bytes position = 0;
    };

    void restart(Decoder& decoder);
    void inflate(Decoder& decoder, std::span<std::byte> to);
    void go_to(Decoder& decoder, Bytes position);

    std::vector<std::byte> stored_;
    Elements samples_;
    std::size_t size_;
    Pace pace_;
    std::vector<Decoder> decoders_; ///< one, or one for each byte of a sample
    std::vector<std::byte> passed_, bytes_;
    Bytes since_ = 0; ///< decoded since `pace_` was called
};

/// Reads rows of a dataset whose chunks are too large to be held, beside what is stored of them: of
/// a chunk, the compressed bytes are kept.
class Hdf5LargeChunks {
  public:
    /// Whether a dataset is such a one. Its rows must be along its last axis.
    static bool has(const Hdf5Storage& storage);

    /// `dataset` and `storage` must outlive the result.
    Hdf5LargeChunks(const Hdf5Storage& storage, hid_t dataset, Pace pace);

    /// Reads the row that begins at `start`, as samples of a type in memory. Throws Error.
    void read_row(std::span<const hsize_t> start, hid_t type, std::span<std::byte> to);

  private:
    using Offset = std::vector<hsize_t>;
    Hdf5Inflater& chunk_at(const Offset& offset);

    const Hdf5Storage& storage_;
    hid_t dataset_;
    Hdf5Handle type_;
    Pace pace_;
    std::map<Offset, Hdf5Inflater> open_; ///< those of the last row
    std::vector<std::byte> row_;
};

} // namespace sextant::format
