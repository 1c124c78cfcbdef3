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

ChunkParts::ChunkParts(const ArrayBlock& block, std::span<const std::int64_t> chunk)
    : block_(block), chunk_(chunk) {
    for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
        const std::int64_t last = block.start[axis] + block.count[axis] - 1;
        first_.push_back(block.start[axis] / chunk[axis]);
        counts_.push_back(last / chunk[axis] - first_.back() + 1);
        size_ *= counts_.back();
    }
}

ChunkPart ChunkParts::operator[](std::int64_t number) const {
    const std::vector<std::int64_t> none(chunk_.size());
    ChunkPart part{none, none, none, none};
    for (std::size_t axis = chunk_.size(); axis-- > 0; number /= counts_[axis]) {
        part.chunk[axis] = first_[axis] + number % counts_[axis];
        const std::int64_t begin = part.chunk[axis] * chunk_[axis];
        const std::int64_t from = std::max(begin, block_.start[axis]);
        const std::int64_t end =
            std::min(begin + chunk_[axis], block_.start[axis] + block_.count[axis]);
        part.inside[axis] = from - begin;
        part.at[axis] = from - block_.start[axis];
        part.count[axis] = end - from;
    }
    return part;
}

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
    cpu_set_t allowed; // CPUs of this process, which an MPI launcher may restrict
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
                next = count; // start no further task
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
            // No further thread can be created: the existing threads run all tasks.
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

void cut_into_chunks(const ArrayHeader& header, const ArrayBlock& block,
                     std::span<const std::byte> samples, std::vector<ChunkBuffers>& buffers,
                     const StoreChunk& store) {
    const ChunkParts parts(block, header.chunk);
    const Bytes size = size_of(header.sample);
    const std::vector<Elements> steps = steps_of(block.count);
    run_chunk_tasks(parts.size(), static_cast<int>(buffers.size()),
                    [&](std::int64_t task, int thread) {
                        const ChunkPart part = parts[task];
                        const Elements offset = index_of(part.at, steps);
                        ChunkBuffers& own = buffers[static_cast<std::size_t>(thread)];
                        own.chunk.resize(static_cast<std::size_t>(header.chunk_bytes()));
                        if (part.count != header.chunk)
                            fill_samples(header.fill, own.chunk);
                        copy_block(part.count, size, samples.data() + offset * size, steps,
                                   own.chunk.data(), steps_of(header.chunk));
                        store(part.chunk, own, consists_of(header.fill, own.chunk));
                    });
}

} // namespace sextant::format
