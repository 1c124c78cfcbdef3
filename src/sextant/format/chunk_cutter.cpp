// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/chunk_cutter.hpp"

#include "sextant/format/checks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <sched.h>

namespace sextant::format {

Bytes ChunkGrid::chunk_bytes() const {
    Bytes bytes = size_of(sample);
    for (const std::int64_t length : chunk)
        bytes *= length;
    return bytes;
}

bool is_zero(std::span<const std::byte> bytes) {
    // Each byte equals the one before, which memcmp finds out at the speed of memory.
    return bytes.empty() || (bytes.front() == std::byte{0} &&
                             std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

ChunkGrid chunks_for(Sample type, std::int64_t frames, ImageShape shape, bool stack,
                     std::int64_t most_depth) {
    constexpr Bytes wanted_chunk_bytes = Bytes{1} << 22, most_layer_bytes = Bytes{1} << 28;
    const Bytes sample = size_of(type), frame = shape.elements() * sample;
    std::int64_t depth = std::min(most_depth, frames);
    if (depth > 1 && depth > most_layer_bytes / frame)
        depth = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(
                                        std::max<Bytes>(1, most_layer_bytes / frame))) -
                                    1);
    std::int64_t rows = 1, columns = 1;
    const auto fits = [&] { return 2 * depth * rows * columns * sample <= wanted_chunk_bytes; };
    while (fits() && (rows < shape.height || columns < shape.width)) {
        const bool grow_rows = rows < shape.height && (rows < columns || columns == shape.width);
        std::int64_t& side = grow_rows ? rows : columns;
        side = std::min(2 * side, grow_rows ? shape.height : shape.width);
    }
    ChunkGrid grid{{shape.height, shape.width}, {rows, columns}, type};
    if (stack) {
        grid.sides.insert(grid.sides.begin(), frames);
        grid.chunk.insert(grid.chunk.begin(), depth);
    }
    return grid;
}

int chunk_threads(Bytes chunk_bytes) {
    cpu_set_t allowed; // those of this process, which a launcher of ranks can have limited
    CPU_ZERO(&allowed);
    const Bytes cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                            ? CPU_COUNT(&allowed)
                            : static_cast<Bytes>(std::max(1U, std::thread::hardware_concurrency()));
    return static_cast<int>(
        std::clamp<Bytes>(modest_chunk / std::max<Bytes>(1, chunk_bytes), 1, cores));
}

void run_chunk_tasks(std::int64_t count, int threads,
                     const std::function<void(std::int64_t task, int thread)>& run) {
    std::atomic<std::int64_t> next{0};
    std::mutex lock;
    std::int64_t failed = std::numeric_limits<std::int64_t>::max();
    std::exception_ptr error;
    const auto work = [&](int thread) {
        for (std::int64_t task = next++; task < count; task = next++) {
            try {
                run(task, thread);
            } catch (...) {
                const std::scoped_lock held(lock);
                if (task < failed) {
                    failed = task;
                    error = std::current_exception();
                }
                next = count; // begin no other task
            }
        }
    };
    {
        std::vector<std::jthread> others;
        const auto wanted = static_cast<int>(std::min<std::int64_t>(threads, count));
        try {
            for (int thread = 1; thread < wanted; ++thread)
                others.emplace_back(work, thread);
        } catch (const std::system_error&) {
            // The system has no more threads: the existing ones run all tasks.
        }
        work(0);
    }
    if (error)
        std::rethrow_exception(error);
}

ChunkCutter::ChunkCutter(ChunkGrid grid, Store store, std::vector<ChunkBuffers>& buffers)
    : grid_(std::move(grid)),
      store_(std::move(store)),
      buffers_(buffers),
      depth_(grid_.is_stack() ? grid_.chunk.front() : 1),
      rows_(grid_.chunk[grid_.chunk.size() - 2]),
      rows_held_(depth_ > 1 ? height() : rows_),
      held_(static_cast<std::size_t>(depth_ * rows_held_ * row_bytes())) {}

void ChunkCutter::append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
    const bool last_of_layer = frame % depth_ == depth_ - 1 || frame == frames() - 1;
    while (rows.count() > 0) {
        const std::int64_t band = rows.first / rows_;
        const std::int64_t band_end = std::min((band + 1) * rows_, height());
        const std::int64_t end = std::min(rows.last, band_end);
        const auto bytes = static_cast<std::size_t>((end - rows.first) * row_bytes());
        std::memcpy(held_row(frame % depth_, rows.first), samples.data(), bytes);
        samples = samples.subspan(bytes);
        rows.first = end;
        if (last_of_layer && end == band_end)
            store_band(frame, band);
    }
}

/// Stores the chunks of some rows, all of whose frames up to `frame` are held.
void ChunkCutter::store_band(std::int64_t frame, std::int64_t band) {
    const std::int64_t columns = grid_.chunk.back(), width = grid_.sides.back();
    run_chunk_tasks((width + columns - 1) / columns, static_cast<int>(buffers_.size()),
                    [&](std::int64_t column, int thread) {
                        store_chunk(frame, band, column,
                                    buffers_[static_cast<std::size_t>(thread)]);
                    });
}

void ChunkCutter::store_chunk(std::int64_t frame, std::int64_t band, std::int64_t column,
                              ChunkBuffers& buffers) {
    const Bytes chunk_row = grid_.chunk.back() * size_of(grid_.sample);
    const Bytes left = column * chunk_row, bytes = std::min(chunk_row, row_bytes() - left);
    const std::int64_t first = band * rows_;
    const std::int64_t last = std::min(first + rows_, height());
    std::vector<std::byte>& chunk = buffers.chunk;
    chunk.assign(static_cast<std::size_t>(grid_.chunk_bytes()), std::byte{0});
    for (std::int64_t i = 0; i <= frame % depth_; ++i) {
        for (std::int64_t y = first; y < last; ++y) {
            std::memcpy(chunk.data() + (i * rows_ + y - first) * chunk_row, held_row(i, y) + left,
                        static_cast<std::size_t>(bytes));
        }
    }
    std::vector<std::int64_t> position{band, column};
    if (grid_.is_stack())
        position.insert(position.begin(), frame / depth_);
    store_(position, buffers);
}

void BlockCutter::cut(const ArrayBlock& block, std::span<const std::byte> samples) {
    const std::size_t axes = block.start.size();
    std::vector<std::int64_t> counts;
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        counts.push_back((block.count[axis] + header_.chunk[axis] - 1) / header_.chunk[axis]);
        all *= counts.back();
    }
    run_chunk_tasks(all, static_cast<int>(buffers_.size()), [&](std::int64_t task, int thread) {
        std::vector<std::int64_t> at(axes); // the first sample of the chunk within the block
        for (std::size_t axis = axes; axis-- > 0; task /= counts[axis])
            at[axis] = task % counts[axis] * header_.chunk[axis];
        cut_chunk(block, samples, at, buffers_[static_cast<std::size_t>(thread)]);
    });
}

void BlockCutter::cut_chunk(const ArrayBlock& block, std::span<const std::byte> samples,
                            std::span<const std::int64_t> at, ChunkBuffers& buffers) {
    const std::size_t axes = at.size();
    const Bytes size = size_of(header_.sample);
    const std::vector<Elements> steps = steps_of(block.count);
    std::vector<std::int64_t> position(axes), count(axes);
    Elements offset = 0, elements = 1;
    bool whole = true;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        position[axis] = (block.start[axis] + at[axis]) / header_.chunk[axis];
        count[axis] = std::min(header_.chunk[axis], block.count[axis] - at[axis]);
        whole = whole && count[axis] == header_.chunk[axis];
        offset += at[axis] * steps[axis];
        elements *= header_.chunk[axis];
    }
    buffers.chunk.resize(static_cast<std::size_t>(elements * size));
    if (!whole)
        fill_samples(header_.fill, buffers.chunk);
    copy_block(count, size, samples.data() + offset * size, steps, buffers.chunk.data(),
               steps_of(header_.chunk));
    if (!consists_of(header_.fill, buffers.chunk))
        store_(position, buffers);
}

} // namespace sextant::format
