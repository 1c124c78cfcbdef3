// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/sample.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sextant::format {

/// The number of threads that run_chunk_tasks() uses for chunks of this size: their memory is at
/// most modest_chunk (checks.hpp), unless a single chunk is larger.
int chunk_threads(Bytes chunk_bytes);

/// Runs the tasks 0 to count - 1 on up to `threads` threads. If tasks throw, rethrows the exception
/// of the one with the lowest number.
void run_chunk_tasks(std::int64_t count, int threads,
                     const std::function<void(std::int64_t task, int thread)>& run);

/// The part of a block within one chunk.
struct ChunkPart {
    std::vector<std::int64_t> chunk;  ///< position of the chunk along each axis, in chunks
    std::vector<std::int64_t> inside; ///< the first position within the chunk
    std::vector<std::int64_t> at;     ///< the first position within the block
    std::vector<std::int64_t> count;
};

/// The chunks that a block overlaps, in C order. Both must outlive this object.
class ChunkParts {
  public:
    ChunkParts(const ArrayBlock& block, std::span<const std::int64_t> chunk);

    std::int64_t size() const { return size_; }
    ChunkPart operator[](std::int64_t number) const;

  private:
    const ArrayBlock& block_;
    std::span<const std::int64_t> chunk_;
    std::vector<std::int64_t> first_, counts_; ///< along each axis, in chunks
    std::int64_t size_ = 1;
};

/// Returns chunks of up to `most_depth` frames and about 4 MiB for an array of frames, rows and
/// columns, or of rows and columns.
std::vector<std::int64_t> chunk_for(Sample sample, std::span<const std::int64_t> lengths,
                                    std::int64_t most_depth = 64);

/// Memory for a chunk and for its compressed bytes, which arrays that are written in turn can
/// share; one per thread.
struct ChunkBuffers {
    std::vector<std::byte> chunk, stored;
};

/// One per thread of run_chunk_tasks() for chunks of this size.
std::shared_ptr<std::vector<ChunkBuffers>> chunk_buffers(Bytes chunk_bytes);

/// Receives a chunk in `buffers.chunk`, with its position along each axis, in chunks. `is_fill`: it
/// consists of the fill value, which samples beyond the array also have. Several threads call it; a
/// thread's positions ascend.
using StoreChunk = std::function<void(std::span<const std::int64_t> position, ChunkBuffers& buffers,
                                      bool is_fill)>;

/// Cuts a block of an array, which begins at a multiple of chunks, into chunks.
void cut_into_chunks(const ArrayHeader& header, const ArrayBlock& block,
                     std::span<const std::byte> samples, std::vector<ChunkBuffers>& buffers,
                     const StoreChunk& store);

} // namespace sextant::format
