// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/format/array_formats.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/hdf5_metadata.hpp"
#include "sextant/format/zarr_chunks.hpp"

#include <map>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

namespace sextant::format {

namespace {

/// The lengths of an element in µm, along slices, rows and columns, or along rows and columns if
/// frames are no slices; empty if they are unknown.
std::vector<double> element_size(const FrameHeader& header, bool slices) {
    const double unit = metres_of(header.pixel.unit) / 1e-6;
    if (!header.pixel.known() || !(unit > 0))
        return {};
    std::vector<double> size{header.pixel.y * unit, header.pixel.x * unit};
    if (slices)
        size.insert(size.begin(),
                    (header.slice_distance > 0 ? header.slice_distance : header.pixel.x) * unit);
    return size;
}

/// Integers are compressed; floats would hardly become smaller.
class Hdf5Sink : public FrameSink {
  public:
    Hdf5Sink(const std::string& path, const FrameHeader& header, StackAxis axis)
        : FrameSink(path, header),
          file_(path),
          grid_(chunks_for(header.sample, header.frames, header.shape, header.frames > 1)),
          deflated_(name(header.sample)[0] != 'f'),
          element_(element_size(header, grid_.is_stack() && axis == StackAxis::slices)),
          buffers_(static_cast<std::size_t>(zarr_threads(grid_.chunk_bytes()))),
          cutter_(
              grid_,
              [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
                  store(position, chunk);
              },
              buffers_) {
        file_.seek(hdf5_chunks_at);
    }

  private:
    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) override {
        cutter_.append(frame, rows, samples);
    }

    void finish() override {
        file_.write(std::string_view("\0\0\0\0\0\0\0",
                                     static_cast<std::size_t>((8 - file_.position() % 8) % 8)));
        const Hdf5ChunkTree tree =
            hdf5_chunk_tree(grid_, chunks_, static_cast<std::uint64_t>(file_.position()));
        file_.write(tree.bytes);
        const auto end = static_cast<std::uint64_t>(file_.position());
        file_.seek(0);
        file_.write(hdf5_metadata(grid_, deflated_, element_, tree.root, end));
        file_.commit();
    }

    std::size_t number_of(std::span<const std::int64_t> position) const {
        std::int64_t number = 0;
        for (std::size_t axis = 0; axis < position.size(); ++axis) {
            const std::int64_t length = grid_.chunk[axis];
            number = number * ((grid_.sides[axis] + length - 1) / length) + position[axis];
        }
        return static_cast<std::size_t>(number);
    }

    /// Chunks of zeros, of which sparse volumes have many, are compressed once.
    void compress(ChunkBuffers& buffers) {
        if (!is_zero(buffers.chunk))
            return deflate_chunk(buffers);
        std::call_once(zeros_made_, [&] {
            deflate_chunk(buffers);
            zeros_ = buffers.stored;
        });
        buffers.stored = zeros_;
    }

    /// Writes chunks in the order of their numbers, so that files are the same for every number of
    /// threads. A chunk that is compressed before an earlier one waits.
    void store(std::span<const std::int64_t> position, ChunkBuffers& buffers) {
        if (deflated_)
            compress(buffers);
        std::vector<std::byte>& stored = deflated_ ? buffers.stored : buffers.chunk;
        const std::scoped_lock held(lock_);
        waiting_.emplace(number_of(position), std::exchange(stored, {}));
        while (!waiting_.empty() && waiting_.begin()->first == chunks_.size()) {
            const std::vector<std::byte>& next = waiting_.begin()->second;
            chunks_.push_back({file_.position(), std::ssize(next)});
            file_.write(next);
            waiting_.erase(waiting_.begin());
        }
    }

    void deflate_chunk(ChunkBuffers& buffers) const {
        auto bytes = static_cast<uLongf>(compressBound(static_cast<uLong>(buffers.chunk.size())));
        buffers.stored.resize(bytes);
        if (compress2(reinterpret_cast<Bytef*>(buffers.stored.data()), &bytes,
                      reinterpret_cast<const Bytef*>(buffers.chunk.data()),
                      static_cast<uLong>(buffers.chunk.size()), hdf5_deflate_level) != Z_OK)
            throw std::bad_alloc();
        buffers.stored.resize(bytes);
    }

    AtomicFile file_;
    ChunkGrid grid_;
    bool deflated_;
    std::vector<double> element_;
    std::vector<ChunkBuffers> buffers_;
    std::once_flag zeros_made_;
    std::vector<std::byte> zeros_; ///< a compressed chunk of zeros
    ChunkCutter cutter_;
    std::mutex lock_; ///< for all below, and the file
    std::map<std::size_t, std::vector<std::byte>> waiting_;
    std::vector<Hdf5Chunk> chunks_;
};

} // namespace

std::unique_ptr<FrameSink> create_hdf5(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    check_sink(path, header,
               {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32,
                Sample::u64, Sample::i64, Sample::f16, Sample::f32, Sample::f64});
    checked_frames(path, header);
    return std::make_unique<Hdf5Sink>(path, header, options.axis);
}

std::unique_ptr<ArraySink> create_hdf5_array(const std::string& path, ArrayHeader header) {
    header.check(path);
    const std::vector<std::byte> start = hdf5_contiguous_metadata(header.sample, header.lengths);
    return stored_array_sink(path, std::move(header), start);
}

} // namespace sextant::format
