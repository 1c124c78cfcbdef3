// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// A single frame that a codec decodes from its first row on: rows in front of those that are asked
/// for are decoded and forgotten, and going back begins anew.
class RowwiseFrame : public FrameSource {
  protected:
    RowwiseFrame(const std::string& path, FrameHeader header);

  private:
    /// Makes row 0 the next.
    virtual void restart() = 0;
    /// Decodes the next row, which is row `number`. Throws InvalidFile.
    virtual void decode_row(std::int64_t number, std::span<std::byte> to) = 0;
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) final;

    std::int64_t next_ = -1; ///< -1 where the codec is at no row
    std::vector<std::byte> passed_;
};

} // namespace sextant::format
