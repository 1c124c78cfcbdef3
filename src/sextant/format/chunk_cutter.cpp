// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/chunk_cutter.hpp"

#include "sextant/format/checks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <sched.h>

namespace sextant::format {

std::vector<std::int64_t> chunk_for(Sample type, std::span<const std::int64_t> lengths,
                                    std::int64_t most_depth) {
    constexpr Bytes wanted_chunk_bytes = Bytes{1} << 22, most_layer_bytes = Bytes{1} << 28;
    const std::size_t axes = lengths.size();
    const std::int64_t height = lengths[axes - 2], width = lengths[axes - 1];
    const Bytes sample = size_of(type), frame = height * width * sample;
    std::int64_t depth = axes > 2 ? std::min(most_depth, lengths.front()) : 1;
    if (depth > 1 && depth > most_layer_bytes / frame)
        depth = static_cast<std::int64_t>(std::bit_floor(
            static_cast<std::uint64_t>(std::max<Bytes>(1, most_layer_bytes / frame))));
    std::int64_t rows = 1, columns = 1;
    const auto fits = [&] { return 2 * depth * rows * columns * sample <= wanted_chunk_bytes; };
    while (fits() && (rows < height || columns < width)) {
        const bool grow_rows = rows < height && (rows < columns || columns == width);
        std::int64_t& side = grow_rows ? rows : columns;
        side = std::min(2 * side, grow_rows ? height : width);
    }
    return axes > 2 ? std::vector{depth, rows, columns} : std::vector{rows, columns};
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

std::shared_ptr<std::vector<ChunkBuffers>> chunk_buffers(Bytes chunk_bytes) {
    return std::make_shared<std::vector<ChunkBuffers>>(
        static_cast<std::size_t>(chunk_threads(chunk_bytes)));
}

namespace {

void cut_chunk(const ArrayHeader& header, const ArrayBlock& block,
               std::span<const std::byte> samples, std::span<const std::int64_t> at,
               ChunkBuffers& buffers, const StoreChunk& store) {
    const std::size_t axes = at.size();
    const Bytes size = size_of(header.sample);
    const std::vector<Elements> steps = steps_of(block.count);
    std::vector<std::int64_t> position(axes), count(axes);
    Elements offset = 0;
    bool whole = true;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        position[axis] = (block.start[axis] + at[axis]) / header.chunk[axis];
        count[axis] = std::min(header.chunk[axis], block.count[axis] - at[axis]);
        whole = whole && count[axis] == header.chunk[axis];
        offset += at[axis] * steps[axis];
    }
    buffers.chunk.resize(static_cast<std::size_t>(header.chunk_bytes()));
    if (!whole)
        fill_samples(header.fill, buffers.chunk);
    copy_block(count, size, samples.data() + offset * size, steps, buffers.chunk.data(),
               steps_of(header.chunk));
    store(position, buffers, consists_of(header.fill, buffers.chunk));
}

} // namespace

void cut_into_chunks(const ArrayHeader& header, const ArrayBlock& block,
                     std::span<const std::byte> samples, std::vector<ChunkBuffers>& buffers,
                     const StoreChunk& store) {
    const std::size_t axes = block.start.size();
    std::vector<std::int64_t> counts;
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        counts.push_back((block.count[axis] + header.chunk[axis] - 1) / header.chunk[axis]);
        all *= counts.back();
    }
    run_chunk_tasks(all, static_cast<int>(buffers.size()), [&](std::int64_t task, int thread) {
        std::vector<std::int64_t> at(axes); // the first sample of the chunk within the block
        for (std::size_t axis = axes; axis-- > 0; task /= counts[axis])
            at[axis] = task % counts[axis] * header.chunk[axis];
        cut_chunk(header, block, samples, at, buffers[static_cast<std::size_t>(thread)], store);
    });
}

} // namespace sextant::format
