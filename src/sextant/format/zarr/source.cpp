// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/zarr/zarr.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

/// A thread-safe least-recently-used cache of numbered objects, limited in bytes.
template <class T>
class RecentlyUsed {
  public:
    using Kept = std::shared_ptr<const T>;

    explicit RecentlyUsed(Bytes most) : most_(most) {}

    Bytes most() const { return most_; }

    Kept find(Elements number) {
        const std::scoped_lock held(lock_);
        const auto at = places_.find(number);
        if (at == places_.end())
            return nullptr;
        order_.splice(order_.begin(), order_, at->second);
        return order_.front().object;
    }

    void add(Elements number, Kept object, Bytes bytes) {
        const std::scoped_lock held(lock_);
        if (places_.contains(number))
            return;
        bytes_ += bytes;
        order_.push_front({number, bytes, std::move(object)});
        places_.emplace(number, order_.begin());
        while (bytes_ > most_ && !order_.empty()) {
            bytes_ -= order_.back().bytes;
            places_.erase(order_.back().number);
            order_.pop_back();
        }
    }

  private:
    struct Entry {
        Elements number;
        Bytes bytes;
        Kept object;
    };
    std::mutex lock_;
    Bytes most_, bytes_ = 0;
    std::list<Entry> order_; // most recently used first
    std::unordered_map<Elements, typename std::list<Entry>::iterator> places_;
};

/// The open file of a shard, with the positions of its chunks.
struct Shard {
    SourceFile file;
    std::vector<ZarrRange> chunks = {};
};

ArrayHeader header_of(const ZarrSeries& series, const std::string& path) {
    ArrayHeader header{series.array.sides, series.names, series.array.sample};
    header.chunk = series.array.chunk;
    header.fill = series.array.fill;
    header.pixel = believable(series.pixel, header.remarks);
    header.slice_distance = believable_distance(series.slice_distance, header.pixel);
    header.frame_interval = series.frame_interval;
    header.check(path);
    return header;
}

class ZarrArraySource final : public ArraySource {
  public:
    /// `empty`: the caller knows that the array has no chunks.
    ZarrArraySource(ZarrStore store, ZarrSeries series, Bytes cache, bool empty)
        : ArraySource(store.path(), header_of(series, store.path_of(series.name))),
          store_(std::move(store)),
          series_(std::move(series)),
          steps_(array().chunk_steps()),
          buffers_(chunk_buffers(array().chunk_bytes())),
          empty_(empty),
          chunks_(cache),
          shards_(most_index_bytes) {
        std::vector<std::int64_t> grid; // number of chunks along each axis
        for (std::size_t axis = 0; axis < array().sides.size(); ++axis)
            grid.push_back((array().sides[axis] + array().chunk[axis] - 1) / array().chunk[axis]);
        grid_steps_ = steps_of(grid);
    }

  private:
    /// The limit of the cache of shard indexes. Each index counts as at least 1 MiB, because the
    /// shard's file stays open.
    static constexpr Bytes most_index_bytes = Bytes{1} << 26, least_shard = Bytes{1} << 20;

    const ZarrArray& array() const { return series_.array; }

    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        constexpr Bytes worth_threads = Bytes{1} << 18;
        const std::vector<Elements> to_steps = steps_of(block.count);
        const ChunkParts parts(block, array().chunk);
        const bool small = parts.size() * array().chunk_bytes() < worth_threads;
        run_chunk_tasks(parts.size(), small ? 1 : static_cast<int>(buffers_->size()),
                        [&](std::int64_t task, int thread) {
                            copy(parts[task], to_steps, to,
                                 (*buffers_)[static_cast<std::size_t>(thread)]);
                        });
    }

    bool lacks(const ArrayBlock& block) override {
        if (empty_)
            return true;
        const ChunkParts parts(block, array().chunk);
        for (std::int64_t number = 0; number < parts.size(); ++number) {
            if (has_chunk(parts[number].chunk))
                return false;
        }
        return true;
    }

    void copy(const ChunkPart& part, std::span<const Elements> to_steps, std::span<std::byte> to,
              ChunkBuffers& buffers) {
        const Bytes size = size_of(header().sample);
        const Elements number = index_of(part.chunk, grid_steps_);
        std::byte* const target = to.data() + index_of(part.at, to_steps) * size;
        RecentlyUsed<std::vector<std::byte>>::Kept kept = chunks_.find(number);
        if (!kept && !decode(part.chunk, buffers)) {
            const std::vector<Elements> none(part.chunk.size(), 0);
            return copy_block(part.count, size, header().fill.data(), none, target, to_steps);
        }
        if (!kept && std::ssize(buffers.chunk) <= chunks_.most()) {
            kept = std::make_shared<std::vector<std::byte>>(std::move(buffers.chunk));
            chunks_.add(number, kept, std::ssize(*kept));
        }
        const std::byte* const from = kept ? kept->data() : buffers.chunk.data();
        copy_block(part.count, size, from + index_of(part.inside, steps_) * size, steps_, target,
                   to_steps);
    }

    bool has_chunk(std::span<const std::int64_t> chunk) {
        if (!array().shards)
            return store_.has(series_.file(array().chunk_name(chunk)));
        const ZarrShardChunk place = array().in_shard(chunk);
        const auto shard = shard_at(place.shard);
        return shard && !shard->chunks[place.number].is_missing();
    }

    /// Decodes a chunk into samples in native byte order. Returns false if the chunk is not stored.
    bool decode(std::span<const std::int64_t> chunk, ChunkBuffers& buffers) {
        if (array().shards) {
            const ZarrShardChunk place = array().in_shard(chunk);
            const auto shard = shard_at(place.shard);
            const ZarrRange range = shard ? shard->chunks[place.number] : ZarrRange{};
            if (range.is_missing())
                return false;
            decode_stored(shard->file, static_cast<Bytes>(range.offset),
                          static_cast<Bytes>(range.bytes),
                          fmt::format("{}, chunk {}", shard->file.path(), place.number), buffers);
            return true;
        }
        const std::string name = series_.file(array().chunk_name(chunk));
        if (!store_.has(name))
            return false;
        const SourceFile file(store_.path_of(name));
        decode_stored(file, 0, file.size(), file.path(), buffers);
        return true;
    }

    void decode_stored(const SourceFile& file, Bytes offset, Bytes stored, const std::string& what,
                       ChunkBuffers& buffers) const {
        const Bytes bytes = array().chunk_bytes();
        check_zarr_chunk(what, array().codecs, stored, bytes);
        const bool plain = array().codecs.empty();
        std::vector<std::byte>& read = plain ? buffers.chunk : buffers.stored;
        read.resize(static_cast<std::size_t>(stored));
        if (file.read_at(offset, read) < stored)
            throw InvalidFile(file.path(), "shrank while it was read");
        buffers.chunk.resize(static_cast<std::size_t>(bytes));
        if (!plain)
            decode_zarr_chunk(what, array().codecs, read, buffers.chunk);
        correct_samples(array().sample, array().swapped, array().boolean, buffers.chunk);
    }

    /// Returns a shard with its index; null if the shard is not stored.
    RecentlyUsed<Shard>::Kept shard_at(std::span<const std::int64_t> position) {
        const Elements number = index_of(position, grid_steps_); // unique: no more than of chunks
        if (auto kept = shards_.find(number))
            return kept;
        const std::string name = series_.file(array().chunk_name(position));
        if (!store_.has(name))
            return nullptr;
        const auto shard = std::make_shared<Shard>(Shard{SourceFile(store_.path_of(name))});
        const SourceFile& file = shard->file;
        const Bytes index = array().index_bytes();
        if (file.size() < index)
            throw InvalidFile(file.path(),
                              fmt::format("has {} bytes, expected at least {} for the "
                                          "index of {} chunks",
                                          file.size(), index, array().chunks_per_shard()));
        std::vector<std::byte> stored(static_cast<std::size_t>(index));
        const Bytes at = array().shards->index_at_start ? 0 : file.size() - index;
        if (file.read_at(at, stored) < index)
            throw InvalidFile(file.path(), "shrank while it was read");
        shard->chunks = decode_zarr_index(file.path(), array(), stored, file.size());
        shards_.add(number, shard, std::max(index, least_shard));
        return shard;
    }

    ZarrStore store_;
    ZarrSeries series_;
    std::vector<Elements> steps_;      ///< steps between samples within a chunk, per axis
    std::vector<Elements> grid_steps_; ///< steps between the numbers of chunks, per axis
    std::shared_ptr<std::vector<ChunkBuffers>> buffers_;
    bool empty_;
    RecentlyUsed<std::vector<std::byte>> chunks_; ///< cache of decoded chunks
    RecentlyUsed<Shard> shards_;
};

// Frames.

/// The memory for decoded samples. Larger frames are decoded in parts.
constexpr Bytes kept_bytes = Bytes{257} << 20; // 256 MiB of samples, and the lists that hold them

/// The decoded samples of the same rows of every frame of a window, frame by frame. If all samples
/// have the fill value, `missing` is true and there are no samples.
struct RowBand {
    Rows rows;
    Memory samples;
    bool missing = false;
};

/// A range of frames [first, last) that share chunks.
struct FrameWindow {
    std::int64_t first = 0, last = 0;
    std::map<std::int64_t, RowBand> bands = {}; ///< the decoded bands, by first row
};

/// The frames of a chunked array, which are planes of its last two axes. If frames are read in
/// order, each chunk is decoded once for all of its rows and frames that fit in memory.
class FramesOfArray : public FrameFile {
  public:
    FramesOfArray(FrameHeader header, std::unique_ptr<ArraySource> array, FrameAxes axes)
        : FrameFile(array->path(), std::move(header)),
          array_(std::move(array)),
          axes_(std::move(axes)) {
        for (const std::size_t axis : axes_.frames) {
            if (lengths()[axis] > 1)
                depth_ = axis;
        }
        const ImageShape shape = this->header().shape;
        // All bands of a window are kept.
        const Bytes bands = (shape.height + chunk_rows() - 1) / chunk_rows();
        const Bytes frame = shape.height * row_bytes() + cost_of(0) * bands / chunk_depth() + 1;
        together_ = std::clamp<std::int64_t>(kept_bytes / frame, 1, chunk_depth());
        band_rows_ = std::clamp<std::int64_t>(kept_bytes / row_bytes(), 1, chunk_rows());
    }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        FrameWindow& window = window_of(frame);
        const auto row = static_cast<std::size_t>(row_bytes());
        while (rows.count() > 0) {
            const RowBand& band = band_of(window, rows.first);
            const std::int64_t last = std::min(rows.last, band.rows.last);
            const std::int64_t before =
                (frame - window.first) * band.rows.count() + rows.first - band.rows.first;
            const std::size_t bytes = static_cast<std::size_t>(last - rows.first) * row;
            if (band.missing)
                fill_samples(array_->header().fill, to.first(bytes));
            else
                std::memcpy(to.data(), band.samples.data() + static_cast<std::size_t>(before) * row,
                            bytes);
            to = to.subspan(bytes);
            rows.first = last;
        }
    }

  private:
    std::span<const std::int64_t> lengths() const { return array_->header().lengths; }
    std::span<const std::int64_t> chunk() const { return array_->header().chunk; }
    std::int64_t chunk_depth() const { return depth_ ? chunk()[*depth_] : 1; }
    std::int64_t chunk_rows() const { return chunk()[chunk().size() - 2]; }

    /// Returns the window of a frame, and moves it to the front of the list.
    FrameWindow& window_of(std::int64_t frame) {
        const auto found =
            std::find_if(windows_.begin(), windows_.end(), [&](const FrameWindow& each) {
                return frame >= each.first && frame < each.last;
            });
        if (found != windows_.end()) {
            std::rotate(windows_.begin(), found, found + 1);
            return windows_.front();
        }
        constexpr std::size_t most_windows = 8;
        if (windows_.size() == most_windows)
            drop_last_window();
        windows_.insert(windows_.begin(), new_window(frame));
        return windows_.front();
    }

    FrameWindow new_window(std::int64_t frame) const {
        const std::int64_t at = depth_ ? axes_.position_of(frame, lengths())[*depth_] : 0;
        const std::int64_t side = depth_ ? lengths()[*depth_] : 1;
        const std::int64_t layer = at / chunk_depth() * chunk_depth();
        const std::int64_t begin = layer + (at - layer) / together_ * together_;
        const std::int64_t end = std::min({begin + together_, layer + chunk_depth(), side});
        return {frame - at + begin, frame - at + end};
    }

    void drop_last_window() {
        for (const auto& [row, band] : windows_.back().bands)
            kept_ -= cost_of(band.samples.size());
        windows_.pop_back();
    }

    /// The memory that a band with `bytes` of samples takes.
    static Bytes cost_of(Bytes bytes) {
        constexpr Bytes overhead = 256;
        return bytes + overhead;
    }

    /// Drops the least recently used windows until there is room for a band of `bytes`. If that
    /// does not suffice, drops the bands of the current window, too.
    void make_room(Bytes bytes) {
        while (windows_.size() > 1 && kept_ + cost_of(bytes) > kept_bytes)
            drop_last_window();
        if (kept_ + cost_of(bytes) > kept_bytes) {
            windows_.front().bands.clear();
            kept_ = 0;
        }
    }

    /// Returns the band that contains a row, and decodes it if necessary. `window` must be the
    /// first in the list.
    const RowBand& band_of(FrameWindow& window, std::int64_t row) {
        const std::int64_t chunk = row / chunk_rows() * chunk_rows();
        const std::int64_t first = chunk + (row - chunk) / band_rows_ * band_rows_;
        if (const auto found = window.bands.find(first); found != window.bands.end())
            return found->second;
        const Rows rows{
            first, std::min({first + band_rows_, chunk + chunk_rows(), header().shape.height})};
        ArrayBlock block{axes_.position_of(window.first, lengths()),
                         std::vector<std::int64_t>(lengths().size(), 1)};
        block.start[block.start.size() - 2] = rows.first;
        block.count[block.count.size() - 2] = rows.count();
        block.count.back() = header().shape.width;
        if (depth_)
            block.count[*depth_] = window.last - window.first;
        const bool missing = array_->is_fill(block);
        const Bytes bytes = missing ? 0 : (window.last - window.first) * rows.count() * row_bytes();
        make_room(bytes);
        RowBand band{rows, Memory(bytes), missing};
        if (!missing)
            array_->read(block, band.samples.bytes());
        kept_ += cost_of(bytes);
        return window.bands.emplace(first, std::move(band)).first->second;
    }

    std::unique_ptr<ArraySource> array_;
    FrameAxes axes_;
    std::optional<std::size_t> depth_; ///< the axis along which consecutive frames share chunks
    std::int64_t together_ = 1;        ///< maximum number of frames per window
    std::int64_t band_rows_ = 1;       ///< maximum number of rows per band
    std::vector<FrameWindow> windows_; ///< most recently used first
    Bytes kept_ = 0;                   ///< memory of the decoded bands in bytes
};

/// Returns the total size of the files of an array; of the first 2²⁰ files if there are more.
Bytes stored_bytes(const std::string& folder) {
    constexpr int most_files = 1 << 20;
    Bytes bytes = 0;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (int files = 0; !error && entry != fs::end(entry) && files < most_files;
         entry.increment(error), ++files) {
        std::error_code unknown;
        if (entry->is_regular_file(unknown))
            bytes += static_cast<Bytes>(entry->file_size(unknown));
    }
    return bytes;
}

/// True if the folder of an array has an entry whose name begins like the name of a chunk.
bool has_any_chunk(const std::string& folder, bool prefixed) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const char first = entry->path().filename().string().front();
        if (prefixed ? first == 'c' : std::isdigit(static_cast<unsigned char>(first)) != 0)
            return true;
    }
    return false;
}

} // namespace

std::unique_ptr<FrameSource> open_zarr(const std::string& path, const SourceOptions& options) {
    ZarrStore store(path, options.allow_external);
    ZarrSeries series = find_zarr_series(store, options.detail);
    const std::string folder = store.path_of(series.name);
    ArrayInFile array = ArrayInFile::with_last_axes(series.array.sides);
    array.names = series.axes;
    array.labels = series.names;
    array.frame_interval = series.frame_interval;
    FrameHeader header;
    header.sample = series.array.sample;
    FrameAxes axes = choose_frame_axes(folder, array, options, header);
    header.pixel = believable(series.last_pixel, header.remarks);
    if (axes.frames.size() == 1)
        header.frames_per_chunk = series.array.chunk[axes.frames.front()];
    if (axes.frames.size() == 1 &&
        (header.axes.names.empty() || header.axes.names[axes.frames.front()] == 'Z'))
        header.slice_distance = believable_distance(series.slice_distance, header.pixel);
    constexpr Bytes usual_row = Bytes{1} << 26;
    if (header.shape.width * size_of(header.sample) > usual_row)
        check_row(path, header, stored_bytes(folder));
    if (!series.remark.empty())
        header.remarks.push_back(series.remark);
    const bool empty = !has_any_chunk(folder, series.array.prefixed);
    if (empty)
        header.remarks.emplace_back("has no chunks: all samples have the fill value");
    // FramesOfArray keeps decoded samples instead of chunks.
    const Bytes cache = !options.every_plane ? 0 : options.cache > 0 ? options.cache : kept_bytes;
    auto chunks =
        std::make_unique<ZarrArraySource>(std::move(store), std::move(series), cache, empty);
    if (options.every_plane)
        return std::make_unique<FrameSource>(std::move(chunks), std::move(header), std::move(axes));
    return frames_of(
        std::make_unique<FramesOfArray>(std::move(header), std::move(chunks), std::move(axes)));
}

} // namespace sextant::format
