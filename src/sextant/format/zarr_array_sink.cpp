// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/zarr_array_sink.hpp"

#include "sextant/format/zarr_chunks.hpp"

#include <utility>

namespace sextant::format {

ZarrArray zarr_array_for(Sample type, std::int64_t frames, ImageShape shape, bool stack,
                         std::int64_t most_depth) {
    ChunkGrid grid = chunks_for(type, frames, shape, stack, most_depth);
    ZarrArray array{std::move(grid.sides), std::move(grid.chunk), type};
    array.separator = '/'; // as OME-Zarr requires
    array.codec = ZarrCodec::zstd;
    return array;
}

ZarrArraySink::ZarrArraySink(ZarrArray array, Put put, std::vector<ChunkBuffers>& buffers)
    : array_(std::move(array)),
      put_(std::move(put)),
      cutter_(
          {array_.sides, array_.chunk, array_.sample},
          [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
              put_chunk(position, chunk);
          },
          buffers) {
    put_(".zarray", zarr_array_text(array_));
}

void ZarrArraySink::put_chunk(std::span<const std::int64_t> position, ChunkBuffers& buffers) const {
    if (is_zero(buffers.chunk))
        return; // missing chunks consist of zeros
    encode_zarr_chunk(buffers.chunk, buffers.stored);
    put_(array_.chunk_name(position),
         {reinterpret_cast<const char*>(buffers.stored.data()), buffers.stored.size()});
}

} // namespace sextant::format
