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

/// The number of threads that run_chunk_tasks() uses for chunks of this size. The chunks of all
/// threads take at most modest_chunk bytes (checks.hpp), unless a single chunk is larger.
int chunk_threads(Bytes chunk_bytes);

/// Runs the tasks 0 to count - 1 on up to `threads` threads. If tasks throw, rethrows the exception
/// of the task with the lowest number.
void run_chunk_tasks(std::int64_t count, int threads,
                     const std::function<void(std::int64_t task, int thread)>& run);

/// The intersection of a block and a chunk.
struct ChunkPart {
    std::vector<std::int64_t> chunk;  ///< position of the chunk along each axis, in chunks
    std::vector<std::int64_t> inside; ///< position of the intersection within the chunk
    std::vector<std::int64_t> at;     ///< position of the intersection within the block
    std::vector<std::int64_t> count;
};

/// The chunks that overlap a block, in C order. The array header and the block must outlive this
/// object.
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

/// Returns the shape of a chunk of up to `most_depth` frames and about 4 MiB. The array has the
/// axes frames, rows and columns, or rows and columns.
std::vector<std::int64_t> chunk_for(Sample sample, std::span<const std::int64_t> lengths,
                                    std::int64_t most_depth = 64);

/// The memory of one thread for a chunk and its compressed bytes. Arrays that are written one after
/// another can share it.
struct ChunkBuffers {
    std::vector<std::byte> chunk, stored;
};

/// Returns one ChunkBuffers per thread that run_chunk_tasks() uses for chunks of this size.
std::shared_ptr<std::vector<ChunkBuffers>> chunk_buffers(Bytes chunk_bytes);

/// Receives a chunk in `buffers.chunk`, with the position of the chunk along each axis, in chunks.
/// `is_fill`: the chunk consists of the fill value. Samples beyond the end of the array have the
/// fill value, too. Several threads call this function; each thread passes its chunks in ascending
/// order of position.
using StoreChunk = std::function<void(std::span<const std::int64_t> position, ChunkBuffers& buffers,
                                      bool is_fill)>;

/// Cuts a block of an array into chunks. The block must begin at a multiple of the chunk.
void cut_into_chunks(const ArrayHeader& header, const ArrayBlock& block,
                     std::span<const std::byte> samples, std::vector<ChunkBuffers>& buffers,
                     const StoreChunk& store);

} // namespace sextant::format
