// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/hdf5/chunk_file.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

/// Returns the element size in µm along the last axes: slices, rows and columns, or rows and
/// columns if there are no slices. Empty if the size is unknown. If the axes have no names, the
/// last two are rows and columns.
std::vector<double> element_of(const ArrayHeader& header) {
    const std::vector<std::string>& names = header.names;
    const std::size_t axes = names.size();
    const bool unnamed = axes == 0 && (header.lengths.size() == 2 || header.lengths.size() == 3);
    if (!unnamed && (axes < 2 || names[axes - 2] != "y" || names[axes - 1] != "x"))
        return {};
    const PixelSize& pixel = header.pixel;
    const double unit = metres_of(pixel.unit) / 1e-6;
    if (!pixel.known() || !(unit > 0))
        return {};
    std::vector<double> size{pixel.y * unit, pixel.x * unit};
    if (axes > 2 && names[axes - 3] == "z")
        size.insert(size.begin(),
                    (header.slice_distance > 0 ? header.slice_distance : pixel.x) * unit);
    return size;
}

class Hdf5Sink final : public ArraySink {
  public:
    /// `sparse`: do not store chunks that consist of the fill value.
    Hdf5Sink(const std::string& path, ArrayHeader header, bool sparse)
        : ArraySink(path, std::move(header)),
          sparse_(sparse),
          buffers_(chunk_buffers(this->header().chunk_bytes())),
          file_(path, this->header(), sparse ? this->header().fill : std::vector<std::byte>(),
                element_of(this->header())) {}

    void commit() override { file_.commit(); }

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        cut_into_chunks(
            header(), block, from, *buffers_,
            [this](std::span<const std::int64_t> position, ChunkBuffers& chunk, bool is_fill) {
                if (!sparse_ || !is_fill)
                    file_.store(position, chunk);
            });
    }

    bool sparse_;
    std::shared_ptr<std::vector<ChunkBuffers>> buffers_;
    Hdf5ChunkFile file_;
};

} // namespace

std::unique_ptr<FrameSink> create_hdf5(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    ArrayHeader array = series_array(header, options.axis);
    array.chunk = chunk_for(array.sample, array.lengths);
    return std::make_unique<FrameSink>(std::make_unique<Hdf5Sink>(path, std::move(array), false),
                                       header);
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
    return std::make_unique<Hdf5Sink>(path, std::move(header), true);
}

} // namespace sextant::format
