// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/zarr_array.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// Returns an array of frames, rows and columns, or of rows and columns if it is no stack, in
/// chunks of up to `most_depth` frames and about 4 MiB.
ZarrArray zarr_array_for(Sample sample, std::int64_t frames, ImageShape shape, bool stack,
                         std::int64_t most_depth = 64);

/// Memory for compressing a chunk, which arrays that are written in turn can share; one per thread.
struct ZarrBuffers {
    std::vector<std::byte> chunk, stored;
};

/// Writes the chunks of an array as soon as their rows are there, which come in order.
class ZarrArraySink {
  public:
    /// Writes a file of the array, such as ".zarray" or "0/3/1". Several threads call it.
    using Put = std::function<void(const std::string& name, std::string_view bytes)>;

    /// Writes the metadata of the array. Keeps a reference to `buffers`.
    ZarrArraySink(ZarrArray array, Put put, std::vector<ZarrBuffers>& buffers);

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples);

  private:
    bool is_stack() const { return array_.sides.size() == 3; }
    std::int64_t frames() const { return is_stack() ? array_.sides.front() : 1; }
    std::int64_t height() const { return array_.sides[array_.sides.size() - 2]; }
    Bytes row_bytes() const { return array_.sides.back() * size_of(array_.sample); }
    std::byte* held_row(std::int64_t frame, std::int64_t row) {
        return held_.data() + (frame * rows_held_ + row % rows_held_) * row_bytes();
    }
    void write_band(std::int64_t frame, std::int64_t band);
    void write_chunk(std::int64_t frame, std::int64_t band, std::int64_t column,
                     ZarrBuffers& buffers);

    ZarrArray array_;
    Put put_;
    std::vector<ZarrBuffers>& buffers_;
    std::int64_t depth_;          ///< frames per chunk
    std::int64_t rows_;           ///< rows per chunk
    std::int64_t rows_held_;      ///< rows held of each frame
    std::vector<std::byte> held_; ///< samples whose chunks are not complete
};

} // namespace sextant::format
