// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/error.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace sextant {

/// A series of frames in memory, one after another, row by row. The memory must outlive this
/// object. A RowSource constructed from a MemoryFrames reads an image in memory.
class MemoryFrames final : public FrameSource {
  public:
    /// Throws    InvalidTask unless `samples` has exactly the size of the header's frames.
    MemoryFrames(const FrameHeader& header, std::span<const std::byte> samples)
        : FrameSource("memory", header, reading_of(header, samples)) {}

  private:
    static FrameReading reading_of(const FrameHeader& header, std::span<const std::byte> samples) {
        const Bytes row = header.row_bytes(), frame_bytes = header.shape.height * row;
        const Bytes expected = header.frames * frame_bytes;
        if (std::ssize(samples) != expected)
            throw InvalidTask("frames in memory: " + std::to_string(samples.size()) +
                              " bytes, expected " + std::to_string(expected));
        return {[=](std::int64_t frame, Rows rows, std::span<std::byte> to) {
            std::memcpy(to.data(), samples.data() + frame * frame_bytes + rows.first * row,
                        to.size());
        }};
    }
};

} // namespace sextant
