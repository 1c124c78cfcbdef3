// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/hdf5_metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// Writes an HDF5 file with a dataset "/data" in chunks, which may come in any order and from
/// several threads. Integers are compressed; floats would hardly become smaller. Chunks are in
/// row-major order in the file, so that its bytes depend only on the samples.
///
/// Cost      compressed chunks that come before an earlier one wait: up to 32 MiB in memory, more
///           of them in a scratch file, from which they are copied.
class Hdf5ChunkFile {
  public:
    /// `fill` is the sample of chunks that are not stored; empty for 0. `element` as for
    /// hdf5_metadata(). Throws InvalidFile if the file cannot be created.
    Hdf5ChunkFile(const std::string& path, ArrayHeader array, std::vector<std::byte> fill,
                  std::vector<double> element);

    /// Stores `buffers.chunk`; its position is counted in chunks. Changes the buffers. Throws
    /// InvalidFile.
    void store(std::span<const std::int64_t> position, ChunkBuffers& buffers);
    /// Makes the file appear. Throws InvalidFile.
    void commit();

  private:
    /// A compressed chunk that waits for those before it: its bytes, or where they are in the
    /// scratch file.
    struct Waiting {
        std::vector<std::byte> bytes;
        Hdf5Chunk spilled;
    };

    std::size_t number_of(std::span<const std::int64_t> position) const;
    void compress(ChunkBuffers& buffers);
    void keep_waiting(std::size_t number, std::vector<std::byte> bytes);
    void write_first_waiting();
    void write(std::size_t number, std::span<const std::byte> bytes);

    AtomicFile file_;
    ArrayHeader array_;
    bool deflated_;
    std::vector<std::byte> fill_;
    std::vector<double> element_;
    std::once_flag zeros_made_;
    std::vector<std::byte> zeros_; ///< a compressed chunk of zeros
    std::mutex lock_;              ///< for all below, and the file
    std::vector<Hdf5Chunk> chunks_;
    std::size_t next_ = 0; ///< the number of compressed chunks before which none is missing
    std::map<std::size_t, Waiting> waiting_;
    Bytes waiting_bytes_ = 0; ///< in memory
    std::optional<ScratchFile> scratch_;
    Bytes scratch_bytes_ = 0;
};

} // namespace sextant::format
