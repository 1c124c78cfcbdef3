// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/format/array_formats.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/zarr_array.hpp"
#include "sextant/format/zarr_chunks.hpp"
#include "sextant/format/zarr_store.hpp"

#include <algorithm>
#include <cctype>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sextant::format {

namespace {

/// The decoded chunks that were used last, up to a number of bytes. Threads share it.
class ZarrChunkCache {
  public:
    using Chunk = std::shared_ptr<const std::vector<std::byte>>;

    explicit ZarrChunkCache(Bytes most) : most_(most) {}

    Chunk find(Elements number) {
        const std::scoped_lock held(lock_);
        const auto at = places_.find(number);
        if (at == places_.end())
            return nullptr;
        order_.splice(order_.begin(), order_, at->second);
        return order_.front().second;
    }

    void add(Elements number, Chunk chunk) {
        const std::scoped_lock held(lock_);
        if (places_.contains(number))
            return;
        bytes_ += std::ssize(*chunk);
        order_.emplace_front(number, std::move(chunk));
        places_.emplace(number, order_.begin());
        while (bytes_ > most_ && !order_.empty()) {
            bytes_ -= std::ssize(*order_.back().second);
            places_.erase(order_.back().first);
            order_.pop_back();
        }
    }

  private:
    using Order = std::list<std::pair<Elements, Chunk>>; // the chunk used last comes first
    std::mutex lock_;
    Bytes most_, bytes_ = 0;
    Order order_;
    std::unordered_map<Elements, Order::iterator> places_;
};

/// The part of a block within one chunk.
struct ChunkPart {
    std::vector<std::int64_t> chunk;  ///< position of the chunk
    std::vector<std::int64_t> inside; ///< the first position within the chunk
    std::vector<std::int64_t> count;
    std::vector<std::int64_t> at; ///< the first position within the block
};

class ZarrBlockSource final : public ArraySource {
  public:
    ZarrBlockSource(ArrayHeader header, ZarrStore store, ZarrSeries series, Bytes cache)
        : ArraySource(store.path(), std::move(header)),
          store_(std::move(store)),
          series_(std::move(series)),
          steps_(array().chunk_steps()),
          threads_(zarr_threads(array().chunk_bytes())),
          cache_(cache) {
        for (std::size_t axis = 0; axis < array().sides.size(); ++axis)
            grid_.push_back((array().sides[axis] + array().chunk[axis] - 1) / array().chunk[axis]);
    }

  private:
    const ZarrArray& array() const { return series_.array; }

    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const std::vector<Elements> to_steps = steps_of(block.count);
        const std::vector<std::int64_t> first = first_chunk(block), counts = chunks_of(block);
        run_zarr_tasks(product(counts), threads_, [&](std::int64_t task, int) {
            const ChunkPart part = part_of(block, first, counts, task);
            copy(part, to_steps, to);
        });
    }

    bool lacks(const ArrayBlock& block) override {
        const std::vector<std::int64_t> first = first_chunk(block), counts = chunks_of(block);
        const std::int64_t all = product(counts);
        for (std::int64_t task = 0; task < all; ++task) {
            if (store_.has(name_of(part_of(block, first, counts, task).chunk)))
                return false;
        }
        return true;
    }

    static std::int64_t product(std::span<const std::int64_t> lengths) {
        std::int64_t all = 1;
        for (const std::int64_t length : lengths)
            all *= length;
        return all;
    }

    std::vector<std::int64_t> first_chunk(const ArrayBlock& block) const {
        std::vector<std::int64_t> first;
        for (std::size_t axis = 0; axis < block.start.size(); ++axis)
            first.push_back(block.start[axis] / array().chunk[axis]);
        return first;
    }

    std::vector<std::int64_t> chunks_of(const ArrayBlock& block) const {
        std::vector<std::int64_t> counts;
        for (std::size_t axis = 0; axis < block.start.size(); ++axis) {
            const std::int64_t last = block.start[axis] + block.count[axis] - 1;
            counts.push_back(last / array().chunk[axis] - block.start[axis] / array().chunk[axis] +
                             1);
        }
        return counts;
    }

    ChunkPart part_of(const ArrayBlock& block, std::span<const std::int64_t> first,
                      std::span<const std::int64_t> counts, std::int64_t task) const {
        const std::size_t axes = block.start.size();
        ChunkPart part{std::vector<std::int64_t>(axes), std::vector<std::int64_t>(axes),
                       std::vector<std::int64_t>(axes), std::vector<std::int64_t>(axes)};
        for (std::size_t axis = axes; axis-- > 0;) {
            part.chunk[axis] = first[axis] + task % counts[axis];
            task /= counts[axis];
            const std::int64_t begin = part.chunk[axis] * array().chunk[axis];
            const std::int64_t from = std::max(begin, block.start[axis]);
            const std::int64_t end =
                std::min(begin + array().chunk[axis], block.start[axis] + block.count[axis]);
            part.inside[axis] = from - begin;
            part.count[axis] = end - from;
            part.at[axis] = from - block.start[axis];
        }
        return part;
    }

    std::string name_of(std::span<const std::int64_t> chunk) const {
        return series_.file(array().chunk_name(chunk));
    }

    void copy(const ChunkPart& part, std::span<const Elements> to_steps, std::span<std::byte> to) {
        const Bytes size = size_of(header().sample);
        Elements offset = 0, inside = 0, number = 0;
        for (std::size_t axis = 0; axis < part.chunk.size(); ++axis) {
            offset += part.at[axis] * to_steps[axis];
            inside += part.inside[axis] * steps_[axis];
            number = number * grid_[axis] + part.chunk[axis];
        }
        ZarrChunkCache::Chunk chunk = cache_.find(number);
        if (!chunk) {
            chunk = decoded(name_of(part.chunk));
            if (chunk)
                cache_.add(number, chunk);
        }
        const std::vector<Elements> none(part.chunk.size(), 0);
        if (chunk)
            copy_block(part.count, size, chunk->data() + inside * size, steps_,
                       to.data() + offset * size, to_steps);
        else
            copy_block(part.count, size, header().fill.data(), none, to.data() + offset * size,
                       to_steps);
    }

    /// Decodes a chunk into native samples; null if it is not stored.
    ZarrChunkCache::Chunk decoded(const std::string& name) const {
        if (!store_.has(name))
            return nullptr;
        SourceFile file(store_.path_of(name));
        const Bytes bytes = array().chunk_bytes();
        check_zarr_chunk(file.path(), array().codec, file.size(), bytes);
        std::vector<std::byte> stored(static_cast<std::size_t>(file.size()));
        if (file.read_at(0, stored) < file.size())
            throw InvalidFile(file.path(), "shrank while it was read");
        auto samples = std::make_shared<std::vector<std::byte>>();
        if (array().codec == ZarrCodec::none) {
            *samples = std::move(stored);
        } else {
            samples->resize(static_cast<std::size_t>(bytes));
            decode_zarr_chunk(file.path(), array().codec, stored, *samples);
        }
        if (array().swapped)
            swap_bytes(array().sample, *samples);
        if (array().boolean)
            std::ranges::transform(*samples, samples->begin(),
                                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
        return samples;
    }

    ZarrStore store_;
    ZarrSeries series_;
    std::vector<Elements> steps_;    ///< of the samples within a chunk, per axis
    std::vector<std::int64_t> grid_; ///< number of chunks along each axis
    int threads_;
    ZarrChunkCache cache_;
};

} // namespace

std::unique_ptr<ArraySource> open_zarr_array(const std::string& path, const std::string& detail,
                                             const SourceOptions& options, Bytes cache) {
    ZarrStore store(path, options.allow_external);
    ZarrSeries series = find_zarr_series(store, detail);
    ArrayHeader header{series.array.sides, series.names, series.array.sample, series.array.chunk};
    header.fill = series.array.fill;
    if (series.array.swapped)
        swap_bytes(header.sample, header.fill);
    header.pixel = believable(series.pixel, header.remarks);
    header.slice_distance = believable_distance(series.slice_distance, header.pixel);
    header.frame_interval = series.frame_interval;
    header.check(store.path_of(series.name));
    return std::make_unique<ZarrBlockSource>(std::move(header), std::move(store), std::move(series),
                                             cache);
}

} // namespace sextant::format
