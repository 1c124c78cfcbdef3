// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/hdf5_chunk_file.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

/// The lengths of an element in µm, along slices, rows and columns, or along rows and columns if
/// there are no slices; empty if they are unknown.
std::vector<double> element_size(const PixelSize& pixel, bool slices, double slice_distance) {
    const double unit = metres_of(pixel.unit) / 1e-6;
    if (!pixel.known() || !(unit > 0))
        return {};
    std::vector<double> size{pixel.y * unit, pixel.x * unit};
    if (slices)
        size.insert(size.begin(), (slice_distance > 0 ? slice_distance : pixel.x) * unit);
    return size;
}

class Hdf5Sink : public FrameFile {
  public:
    Hdf5Sink(const std::string& path, const FrameHeader& header, StackAxis axis)
        : FrameFile(path, header),
          grid_(chunks_for(header.sample, header.frames, header.shape, header.frames > 1)),
          buffers_(static_cast<std::size_t>(chunk_threads(grid_.chunk_bytes()))),
          file_(path, grid_, {},
                element_size(header.pixel, grid_.is_stack() && axis == StackAxis::slices,
                             header.slice_distance)),
          cutter_(
              grid_,
              [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
                  file_.store(position, chunk);
              },
              buffers_) {}

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        cutter_.append(frame, rows, samples);
    }
    void finish() { file_.commit(); }

  private:
    ChunkGrid grid_;
    std::vector<ChunkBuffers> buffers_; ///< one per thread
    Hdf5ChunkFile file_;
    ChunkCutter cutter_;
};

/// The attribute refers to the last axes. Rows and columns are the last axes of series and images
/// whose axes have no names.
std::vector<double> element_of(const ArrayHeader& header) {
    const std::vector<std::string>& names = header.names;
    const std::size_t axes = names.size();
    if (axes == 0 && (header.lengths.size() == 2 || header.lengths.size() == 3))
        return element_size(header.pixel, false, 0);
    if (axes < 2 || names[axes - 2] != "y" || names[axes - 1] != "x")
        return {};
    return element_size(header.pixel, axes > 2 && names[axes - 3] == "z", header.slice_distance);
}

class Hdf5ArraySink final : public ArraySink {
  public:
    Hdf5ArraySink(const std::string& path, ArrayHeader header)
        : ArraySink(path, std::move(header)),
          grid_{this->header().lengths, this->header().chunk, this->header().sample},
          buffers_(static_cast<std::size_t>(chunk_threads(grid_.chunk_bytes()))),
          file_(path, grid_, this->header().fill, element_of(this->header())),
          cutter_(
              this->header(),
              [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
                  file_.store(position, chunk);
              },
              buffers_) {}

    void commit() override { file_.commit(); }

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        cutter_.cut(block, from);
    }

    ChunkGrid grid_;
    std::vector<ChunkBuffers> buffers_; ///< one per thread
    Hdf5ChunkFile file_;
    BlockCutter cutter_;
};

} // namespace

std::unique_ptr<FrameSink> create_hdf5(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    check_sink(path, header,
               {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32,
                Sample::u64, Sample::i64, Sample::f16, Sample::f32, Sample::f64});
    checked_frames(path, header);
    return sink_of(std::make_unique<Hdf5Sink>(path, header, options.axis));
}

bool hdf5_array_keeps_pixel(const ArrayHeader& header) {
    return !element_of(header).empty();
}

std::unique_ptr<ArraySink> create_hdf5_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions&) {
    header.check(path);
    double bytes = static_cast<double>(size_of(header.sample));
    for (const std::int64_t length : header.chunk)
        bytes *= static_cast<double>(length);
    if (constexpr double most = 4294967295; bytes > most)
        throw InvalidFile(path, fmt::format("chunks of {} samples of {} exceed 4 GiB",
                                            fmt::join(header.chunk, "×"), name(header.sample)));
    return std::make_unique<Hdf5ArraySink>(path, std::move(header));
}

} // namespace sextant::format
