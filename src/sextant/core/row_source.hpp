// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/core/image.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sextant {

/// A frame of a series as a gray image whose rows are read when they are asked for, so that it need
/// not fit in memory. Samples of u8, u16 and f32 stay as they are stored; all others become the
/// nearest floats, colours their luminance. For one thread at a time; each opens its own.
class RowSource {
  public:
    /// Requires  a frame of the series (InvalidTask).
    RowSource(std::unique_ptr<FrameSource> frames, std::int64_t frame);

    const std::string& path() const { return frames_->path(); }
    const FrameHeader& header() const { return frames_->header(); }
    ImageShape shape() const { return header().shape; }
    /// gray_f32, gray_u8 or gray_u16.
    const ElementFormat& element() const { return element_; }

    /// Rows first ... first + rows − 1, one after another.
    /// Requires  rows of the image, and room for exactly that, aligned as its samples
    ///           (std::logic_error).
    /// Throws    InvalidFile where the file does not hold them any more.
    void read(Elements first, Elements rows, std::span<std::byte> to);

  private:
    std::unique_ptr<FrameSource> frames_;
    std::int64_t frame_;
    ElementFormat element_;
    bool as_stored_;
};

} // namespace sextant
