// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/hdf5/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// Writes an HDF5 file with a chunked dataset "/data". Chunks may arrive in any order and from
/// several threads. Integers are compressed; compression would hardly reduce floats. The file
/// stores the chunks in row-major order, so its bytes depend only on the samples.
///
/// Cost      compressed chunks that arrive out of order are held: up to 32 MiB in memory, the rest
///           in a scratch file, from which they are copied.
class Hdf5ChunkFile {
  public:
    /// `fill` is the sample of chunks that are not stored; empty for 0. `element` is as in
    /// hdf5_metadata(). Throws InvalidFile if the file cannot be created.
    Hdf5ChunkFile(const std::string& path, ArrayHeader array, std::vector<std::byte> fill,
                  std::vector<double> element);

    /// Stores `buffers.chunk` and overwrites the buffers. `position` is in chunks. Throws
    /// InvalidFile.
    void store(std::span<const std::int64_t> position, ChunkBuffers& buffers);
    /// Makes the complete file appear at its path. Throws InvalidFile.
    void commit();

  private:
    /// A compressed chunk that is held until all chunks before it arrive: its bytes, or their
    /// position in the scratch file.
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
    std::mutex lock_;              ///< protects the file and the members below
    std::vector<Hdf5Chunk> chunks_;
    std::size_t next_ = 0; ///< index of the next chunk to write
    std::map<std::size_t, Waiting> waiting_;
    Bytes waiting_bytes_ = 0; ///< in memory
    std::optional<ScratchFile> scratch_;
    Bytes scratch_bytes_ = 0;
};

} // namespace sextant::format
