// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/zarr_array.hpp"
#include "sextant/format/zarr_chunks.hpp"
#include "sextant/format/zarr_store.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// Decoded samples kept in memory. Larger frames are decoded in parts.
constexpr Bytes kept_zarr_bytes = Bytes{257} << 20; // 256 MiB of samples, and what lists them

/// Decoded rows of consecutive frames: frame by frame, each with these rows. Without samples if all
/// chunks are missing.
struct RowBand {
    Rows rows;
    Memory samples;
    bool missing = false;
};

/// Frames [first, last), which share chunks.
struct FrameWindow {
    std::int64_t first = 0, last = 0;
    std::map<std::int64_t, RowBand> bands = {}; ///< the decoded bands, by their first row
};

class ZarrFrames : public FrameFile {
  public:
    /// `empty`: the array has no chunks.
    ZarrFrames(FrameHeader header, ZarrStore store, ZarrSeries series, FrameAxes axes, bool empty)
        : FrameFile(store.path(), std::move(header)),
          store_(std::move(store)),
          series_(std::move(series)),
          axes_(std::move(axes)),
          empty_(empty),
          steps_(array().chunk_steps()),
          threads_(zarr_threads(array().chunk_bytes())),
          buffers_(static_cast<std::size_t>(threads_)) {
        for (const std::size_t axis : axes_.frames) {
            if (array().sides[axis] > 1)
                depth_ = axis;
        }
        const ImageShape shape = this->header().shape;
        // Bands of all rows of a window are kept.
        const Bytes bands = (shape.height + chunk_rows() - 1) / chunk_rows();
        const Bytes frame = shape.height * row_bytes() + cost_of(0) * bands / chunk_depth() + 1;
        together_ = std::clamp<std::int64_t>(kept_zarr_bytes / frame, 1, chunk_depth());
        band_rows_ = std::clamp<std::int64_t>(kept_zarr_bytes / row_bytes(), 1, chunk_rows());
    }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (empty_)
            return fill(to);
        FrameWindow& window = window_of(frame);
        const auto row = static_cast<std::size_t>(row_bytes());
        while (rows.count() > 0) {
            const RowBand& band = band_of(window, rows.first);
            const std::int64_t last = std::min(rows.last, band.rows.last);
            const std::int64_t before =
                (frame - window.first) * band.rows.count() + rows.first - band.rows.first;
            const std::size_t bytes = static_cast<std::size_t>(last - rows.first) * row;
            if (band.missing)
                fill(to.first(bytes));
            else
                std::memcpy(to.data(), band.samples.data() + static_cast<std::size_t>(before) * row,
                            bytes);
            to = to.subspan(bytes);
            rows.first = last;
        }
    }

  private:
    const ZarrArray& array() const { return series_.array; }
    std::int64_t chunk_depth() const { return depth_ ? array().chunk[*depth_] : 1; }
    std::int64_t chunk_rows() const { return array().chunk[array().chunk.size() - 2]; }
    std::int64_t chunk_columns() const { return array().chunk.back(); }

    /// The position of a frame along each axis of the array.
    std::vector<std::int64_t> position_of(std::int64_t frame) const {
        return axes_.position_of(frame, array().sides);
    }

    /// Returns the window of a frame and moves it to the front of the list.
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
        const std::int64_t at = depth_ ? position_of(frame)[*depth_] : 0;
        const std::int64_t side = depth_ ? array().sides[*depth_] : 1;
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

    /// The memory for a band of `bytes`.
    static Bytes cost_of(Bytes bytes) {
        constexpr Bytes overhead = 256;
        return bytes + overhead;
    }

    /// Drops decoded samples, those used longest ago first, until a band of `bytes` is allowed.
    void make_room(Bytes bytes) {
        while (windows_.size() > 1 && kept_ + cost_of(bytes) > kept_zarr_bytes)
            drop_last_window();
        if (kept_ + cost_of(bytes) > kept_zarr_bytes) {
            windows_.front().bands.clear();
            kept_ = 0;
        }
    }

    /// Returns the band of a row, which is decoded if necessary. `window` is the first one.
    const RowBand& band_of(FrameWindow& window, std::int64_t row) {
        const std::int64_t chunk = row / chunk_rows() * chunk_rows();
        const std::int64_t first = chunk + (row - chunk) / band_rows_ * band_rows_;
        if (const auto found = window.bands.find(first); found != window.bands.end())
            return found->second;
        const Rows rows{
            first, std::min({first + band_rows_, chunk + chunk_rows(), header().shape.height})};
        const bool missing = !has_chunks(window, rows);
        const Bytes bytes = missing ? 0 : (window.last - window.first) * rows.count() * row_bytes();
        make_room(bytes);
        RowBand band{rows, Memory(bytes), missing};
        if (!missing)
            decode(window, band);
        kept_ += cost_of(bytes);
        return window.bands.emplace(first, std::move(band)).first->second;
    }

    std::int64_t chunks_across() const {
        return (header().shape.width + chunk_columns() - 1) / chunk_columns();
    }

    /// The position of the first sample of a chunk that belongs to a band.
    std::vector<std::int64_t> position_in(const FrameWindow& window, Rows rows,
                                          std::int64_t column) const {
        std::vector<std::int64_t> position = position_of(window.first);
        position[position.size() - 2] = rows.first;
        position.back() = column * chunk_columns();
        return position;
    }

    bool has_chunks(const FrameWindow& window, Rows rows) const {
        for (std::int64_t column = 0; column < chunks_across(); ++column) {
            std::vector<std::int64_t> position = position_in(window, rows, column);
            for (std::size_t axis = 0; axis < position.size(); ++axis)
                position[axis] /= array().chunk[axis];
            if (store_.has(series_.file(array().chunk_name(position))))
                return true;
        }
        return false;
    }

    void decode(const FrameWindow& window, RowBand& band) {
        const std::int64_t across = chunks_across();
        const std::span<std::byte> samples = band.samples.bytes();
        constexpr Bytes worth_threads = Bytes{1} << 18;
        const int threads = band.samples.size() < worth_threads ? 1 : threads_;
        run_zarr_tasks(across, threads, [&](std::int64_t column, int thread) {
            decode_chunk(window, band.rows, column, buffers_[static_cast<std::size_t>(thread)],
                         samples);
        });
        to_native(samples);
    }

    void to_native(std::span<std::byte> samples) const {
        if (array().swapped)
            swap_bytes(header().sample, samples);
        if (array().boolean)
            std::ranges::transform(samples, samples.begin(),
                                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    }

    /// Samples of missing chunks.
    void fill(std::span<std::byte> to) const {
        copy_row(array().fill.data(), 0, std::ssize(to) / size_of(header().sample), to.data());
        to_native(to);
    }

    struct Buffers {
        std::vector<std::byte> stored, decoded;
    };

    /// Copies the samples of one chunk that belong to the band into `to`.
    void decode_chunk(const FrameWindow& window, Rows rows, std::int64_t column, Buffers& buffers,
                      std::span<std::byte> to) const {
        std::vector<std::int64_t> position = position_in(window, rows, column);
        Elements start = 0; // the first sample within the chunk
        for (std::size_t axis = 0; axis < position.size(); ++axis) {
            start += position[axis] % array().chunk[axis] * steps_[axis];
            position[axis] /= array().chunk[axis];
        }
        const bool there = read_chunk(array().chunk_name(position), buffers);
        const std::int64_t width = header().shape.width, left = column * chunk_columns();
        const std::int64_t count = std::min(chunk_columns(), width - left);
        const Bytes size = size_of(header().sample);
        const Elements depth_step = depth_ ? steps_[*depth_] : 0;
        for (std::int64_t frame = 0; frame < window.last - window.first; ++frame) {
            for (std::int64_t y = 0; y < rows.count(); ++y) {
                std::byte* const row =
                    to.data() + ((frame * rows.count() + y) * width + left) * size;
                const Elements first = start + frame * depth_step + y * steps_[steps_.size() - 2];
                copy_row(there ? buffers.decoded.data() + first * size : array().fill.data(),
                         there ? steps_.back() : 0, count, row);
            }
        }
    }

    /// Copies samples that are `step` samples apart.
    void copy_row(const std::byte* from, Elements step, std::int64_t count, std::byte* to) const {
        const auto size = static_cast<std::size_t>(size_of(header().sample));
        if (step == 1) {
            std::memcpy(to, from, static_cast<std::size_t>(count) * size);
            return;
        }
        if (step == 0 && is_zero({from, size})) {
            std::memset(to, 0, static_cast<std::size_t>(count) * size);
            return;
        }
        visit_sample(header().sample, [&]<class T>(std::type_identity<T>) {
            for (std::int64_t x = 0; x < count; ++x)
                std::memcpy(to + x * static_cast<std::int64_t>(sizeof(T)),
                            from + x * step * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
        });
    }

    /// Decodes a chunk. Returns false if it is missing, which means that all samples are the fill
    /// value.
    bool read_chunk(const std::string& chunk, Buffers& buffers) const {
        const std::string name = series_.file(chunk);
        if (!store_.has(name))
            return false;
        SourceFile file(store_.path_of(name));
        const Bytes bytes = array().chunk_bytes();
        check_zarr_chunk(file.path(), array().codec, file.size(), bytes);
        const bool plain = array().codec == ZarrCodec::none;
        std::vector<std::byte>& stored = plain ? buffers.decoded : buffers.stored;
        stored.resize(static_cast<std::size_t>(file.size()));
        if (file.read_at(0, stored) < file.size())
            throw InvalidFile(file.path(), "shrank while it was read");
        if (!plain) {
            buffers.decoded.resize(static_cast<std::size_t>(bytes));
            decode_zarr_chunk(file.path(), array().codec, stored, buffers.decoded);
        }
        return true;
    }

    ZarrStore store_;
    ZarrSeries series_;
    FrameAxes axes_;
    bool empty_;
    std::vector<Elements> steps_;      ///< of the samples within a chunk, per axis
    std::optional<std::size_t> depth_; ///< the axis along which successive frames share chunks
    std::int64_t together_ = 1;        ///< frames per window
    std::int64_t band_rows_ = 1;       ///< at most this many rows per band
    int threads_;
    std::vector<Buffers> buffers_;     ///< one per thread
    std::vector<FrameWindow> windows_; ///< the window used last comes first
    Bytes kept_ = 0;                   ///< memory of the decoded bands
};

/// The size of the files of an array, or of its first ones if there are very many.
Bytes stored_zarr_bytes(const ZarrStore& store, const ZarrSeries& series) {
    namespace fs = std::filesystem;
    constexpr int most_files = 1 << 20;
    Bytes bytes = 0;
    std::error_code error;
    fs::recursive_directory_iterator entry(store.path_of(series.name), error);
    for (int files = 0; !error && entry != fs::end(entry) && files < most_files;
         entry.increment(error), ++files) {
        std::error_code unknown;
        if (entry->is_regular_file(unknown))
            bytes += static_cast<Bytes>(entry->file_size(unknown));
    }
    return bytes;
}

/// True if the folder of an array has a file or folder whose name begins with a digit.
bool has_any_chunk(const ZarrStore& store, const ZarrSeries& series) {
    namespace fs = std::filesystem;
    std::error_code error;
    for (fs::directory_iterator entry(store.path_of(series.name), error), end;
         !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name.front())) != 0)
            return true;
    }
    return false;
}

} // namespace

std::unique_ptr<FrameSource> open_zarr(const std::string& path, const std::string& detail,
                                       const SourceOptions& options) {
    ZarrStore store(path, options.allow_external);
    ZarrSeries series = find_zarr_series(store, detail);
    ArrayInFile array = ArrayInFile::with_last_axes(series.array.sides);
    array.names = series.axes;
    array.labels = series.names;
    array.frame_interval = series.frame_interval;
    FrameHeader header;
    header.sample = series.array.sample;
    FrameAxes axes = choose_frame_axes(store.path_of(series.name), array, options, header);
    header.pixel = believable(series.last_pixel, header.remarks);
    if (axes.frames.size() == 1)
        header.frames_per_chunk = series.array.chunk[axes.frames.front()];
    if (axes.frames.size() == 1 &&
        (header.axes.names.empty() || header.axes.names[axes.frames.front()] == 'Z'))
        header.slice_distance = believable_distance(series.slice_distance, header.pixel);
    constexpr Bytes usual_row = Bytes{1} << 26;
    if (header.shape.width * size_of(header.sample) > usual_row)
        check_row(path, header, stored_zarr_bytes(store, series));
    if (!series.remark.empty())
        header.remarks.push_back(series.remark);
    const bool empty = !has_any_chunk(store, series);
    if (empty)
        header.remarks.emplace_back("has no chunks: all samples are the fill value");
    return frames_of(std::make_unique<ZarrFrames>(std::move(header), std::move(store),
                                                  std::move(series), std::move(axes), empty));
}

} // namespace sextant::format
