// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/zarr_array.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// Returns an array of frames, rows and columns, or of rows and columns if it is no stack, in the
/// chunks of chunks_for().
ZarrArray zarr_array_for(Sample sample, std::int64_t frames, ImageShape shape, bool stack,
                         std::int64_t most_depth = 64);

/// Writes the chunks of an array as soon as their rows are there, which come in order.
class ZarrArraySink {
  public:
    /// Writes a file of the array, such as ".zarray" or "0/3/1". Several threads call it.
    using Put = std::function<void(const std::string& name, std::string_view bytes)>;

    /// Writes the metadata of the array. Keeps a reference to `buffers`.
    ZarrArraySink(ZarrArray array, Put put, std::vector<ChunkBuffers>& buffers);
    ZarrArraySink(const ZarrArraySink&) = delete;
    ZarrArraySink& operator=(const ZarrArraySink&) = delete;

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        cutter_.append(frame, rows, samples);
    }

  private:
    void put_chunk(std::span<const std::int64_t> position, ChunkBuffers& buffers) const;

    ZarrArray array_;
    Put put_;
    ChunkCutter cutter_;
};

} // namespace sextant::format
