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

/// Finds where the samples of a dataset are stored (in its own file, in external files or, if it is
/// virtual, in other datasets) and checks that they can be read.
class Hdf5Storage {
  public:
    /// Throws    InvalidFile if a file with samples may not be read or is not a regular file, if
    ///           samples were never written, a filter is not installed, chunks are larger than
    ///           their stored bytes can decode to, or no source of a virtual dataset is available.
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
    /// The number of bytes that the samples occupy in files.
    Bytes stored() const { return stored_; }
    /// Upper bound of the compression ratio.
    Bytes ratio() const { return ratio_; }
    bool is_virtual() const { return sources_.has_value(); }
    /// Remarks on missing samples, for users.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Opens the dataset with a cache for decoded chunks. Virtual datasets that grow with their
    /// sources end at the first missing source.
    Hdf5Handle open(const Hdf5Input& file, Bytes cache) const;

    /// Throws InvalidFile, with a message that begins with `what`, if a source of a block is
    /// missing.
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

/// Streams the samples of a deflated HDF5 chunk that is too large to decode as a whole. If bytes
/// are shuffled (the first bytes of all samples, then their second bytes, and so on), each byte of
/// a sample has its own decoder.
///
/// Cost      decodes the chunk from its start, once for each byte of a sample if it is shuffled,
///           and again from the start when a read begins before the end of the last one.
class Hdf5Inflater {
  public:
    /// `pace` is called at intervals while data is decoded.
    Hdf5Inflater(std::vector<std::byte> stored, Elements samples, Bytes size, bool shuffled,
                 Pace pace);

    /// Reads samples in their stored type, starting at index `first`. Throws Error for damaged
    /// data.
    void read(Elements first, std::span<std::byte> to);

  private:
    struct End {
        void operator()(z_stream* stream) const;
    };
    /// A decoder and the number of bytes that it has decoded.
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
    std::vector<Decoder> decoders_; ///< one or, if shuffled, one per byte of a sample
    std::vector<std::byte> passed_, bytes_;
    Bytes since_ = 0; ///< bytes decoded since the last call of `pace_`
};

/// Reads rows of a dataset whose decoded chunks are too large for memory. Keeps the compressed
/// bytes of the chunks of the current row.
class Hdf5LargeChunks {
  public:
    /// True if a dataset needs this class. Its rows must be along the last axis.
    static bool has(const Hdf5Storage& storage);

    /// `storage` and `dataset` must outlive this object.
    Hdf5LargeChunks(const Hdf5Storage& storage, hid_t dataset, Pace pace);

    /// Reads the row that begins at `start`, converted to `type`. Throws Error.
    void read_row(std::span<const hsize_t> start, hid_t type, std::span<std::byte> to);

  private:
    using Offset = std::vector<hsize_t>;
    Hdf5Inflater& chunk_at(const Offset& offset);

    const Hdf5Storage& storage_;
    hid_t dataset_;
    Hdf5Handle type_;
    Pace pace_;
    std::map<Offset, Hdf5Inflater> open_; ///< chunks of the last row
    std::vector<std::byte> row_;
};

} // namespace sextant::format
