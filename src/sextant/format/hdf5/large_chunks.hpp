// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/hdf5/library.hpp"
#include "sextant/format/hdf5/read_apart.hpp"
#include "sextant/format/hdf5/storage.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <zlib.h>

namespace sextant::format {

/// Streams the samples of a deflated HDF5 chunk that is too large to decode as a whole. In a
/// shuffled chunk, the first bytes of all samples precede the second bytes of all samples, and so
/// on. Each byte of a sample then has its own decoder.
///
/// Cost      decodes the chunk once, or once per byte of a sample if the chunk is shuffled.
///           Decoding restarts when a read begins before the end of the previous one.
class Hdf5Inflater {
  public:
    /// Calls `pace` at intervals during decoding.
    Hdf5Inflater(std::vector<std::byte> stored, Elements samples, Bytes size, bool shuffled,
                 Pace pace);

    /// Reads samples of the stored type, starting at index `first`. Throws Error for damaged data.
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
    std::vector<Decoder> decoders_; ///< one decoder or, if shuffled, one per byte of a sample
    std::vector<std::byte> passed_, bytes_;
    Bytes since_ = 0; ///< bytes decoded since the last call of `pace_`
};

/// Reads rows of a dataset whose decoded chunks are too large for memory. Keeps the compressed
/// bytes of the chunks of the current row.
class Hdf5LargeChunks {
  public:
    /// True if the chunks of a dataset are too large to decode as a whole. Rows must be along the
    /// last axis.
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
    std::map<Offset, Hdf5Inflater> open_; ///< chunks of the last row that was read
    std::vector<std::byte> row_;
};

} // namespace sextant::format
