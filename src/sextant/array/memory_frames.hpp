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

/// A series of frames that are stored in memory one after another, row by row. The memory must
/// outlive this object. A RowSource constructed from it reads an image in memory.
class MemoryFrames final : public FrameSource {
  public:
    /// Throws    InvalidTask unless `samples` has exactly the size of the header's frames.
    MemoryFrames(FrameHeader header, std::span<const std::byte> samples)
        : FrameSource("memory", std::move(header)), samples_(samples) {
        const Bytes expected = this->header().frames * frame_bytes();
        if (std::ssize(samples) != expected)
            throw InvalidTask("frames in memory: " + std::to_string(samples.size()) +
                              " bytes, expected " + std::to_string(expected));
    }

  private:
    Bytes frame_bytes() const { return header().shape.height * row_bytes(); }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        const Bytes first = frame * frame_bytes() + rows.first * row_bytes();
        std::memcpy(to.data(), samples_.data() + first, to.size());
    }

    std::span<const std::byte> samples_;
};

} // namespace sextant
