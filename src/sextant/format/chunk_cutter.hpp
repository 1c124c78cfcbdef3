// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace sextant::format {

/// An array of frames, rows and columns, or of rows and columns, that is cut into chunks of one
/// shape. Chunks at the ends of axes extend beyond the array.
struct ChunkGrid {
    std::vector<std::int64_t> sides, chunk; ///< lengths of the array and of a chunk along the axes
    Sample sample = Sample::u8;

    bool is_stack() const { return sides.size() == 3; }
    Bytes chunk_bytes() const;
};

/// The number of threads that run_chunk_tasks() uses for chunks of this size: their memory is at
/// most modest_chunk (checks.hpp), unless a single chunk is larger.
int chunk_threads(Bytes chunk_bytes);

/// Runs the tasks 0 to count - 1 on up to `threads` threads. If tasks throw, rethrows the exception
/// of the one with the lowest number.
void run_chunk_tasks(std::int64_t count, int threads,
                     const std::function<void(std::int64_t task, int thread)>& run);

/// True if all bytes are 0.
bool is_zero(std::span<const std::byte> bytes);

/// Returns chunks of up to `most_depth` frames and about 4 MiB; an array without frames if it is no
/// stack.
ChunkGrid chunks_for(Sample sample, std::int64_t frames, ImageShape shape, bool stack,
                     std::int64_t most_depth = 64);

/// Memory for a chunk and for its compressed bytes, which arrays that are written in turn can
/// share; one per thread.
struct ChunkBuffers {
    std::vector<std::byte> chunk, stored;
};

/// Cuts rows of an array, which come in order, into chunks.
///
/// Cost      up to 256 MiB of samples are held, or one row of chunks of a frame.
class ChunkCutter {
  public:
    /// Receives a chunk in `buffers.chunk`, with its position along each axis, in chunks. Samples
    /// beyond the array are 0. Several threads call it; a thread's positions ascend, and all of
    /// them are passed once.
    using Store = std::function<void(std::span<const std::int64_t> position, ChunkBuffers&)>;

    /// Keeps a reference to `buffers`.
    ChunkCutter(ChunkGrid grid, Store store, std::vector<ChunkBuffers>& buffers);

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples);

  private:
    std::int64_t frames() const { return grid_.is_stack() ? grid_.sides.front() : 1; }
    std::int64_t height() const { return grid_.sides[grid_.sides.size() - 2]; }
    Bytes row_bytes() const { return grid_.sides.back() * size_of(grid_.sample); }
    std::byte* held_row(std::int64_t frame, std::int64_t row) {
        return held_.data() + (frame * rows_held_ + row % rows_held_) * row_bytes();
    }
    void store_band(std::int64_t frame, std::int64_t band);
    void store_chunk(std::int64_t frame, std::int64_t band, std::int64_t column,
                     ChunkBuffers& buffers);

    ChunkGrid grid_;
    Store store_;
    std::vector<ChunkBuffers>& buffers_;
    std::int64_t depth_;          ///< frames per chunk
    std::int64_t rows_;           ///< rows per chunk
    std::int64_t rows_held_;      ///< rows held of each frame
    std::vector<std::byte> held_; ///< samples whose chunks are not complete
};

/// Cuts blocks of an array, which begin at multiples of chunks, into chunks.
class BlockCutter {
  public:
    /// Keeps a reference to `buffers`. `store` is called as by ChunkCutter, with chunks that have
    /// the fill value beyond the array, except those that consist of it.
    BlockCutter(ArrayHeader header, ChunkCutter::Store store, std::vector<ChunkBuffers>& buffers)
        : header_(std::move(header)), store_(std::move(store)), buffers_(buffers) {}

    void cut(const ArrayBlock& block, std::span<const std::byte> samples);

  private:
    void cut_chunk(const ArrayBlock& block, std::span<const std::byte> samples,
                   std::span<const std::int64_t> at, ChunkBuffers& buffers);

    ArrayHeader header_;
    ChunkCutter::Store store_;
    std::vector<ChunkBuffers>& buffers_;
};

} // namespace sextant::format
