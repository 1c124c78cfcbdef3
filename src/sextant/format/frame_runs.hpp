// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sextant::format {

/// A source that reads several whole frames at once faster than one after another.
class FrameRuns {
  public:
    virtual ~FrameRuns() = default;

    /// Reads frames from `first` on, as stored: as many as it can read at once, but at most
    /// `count`. Returns their number, which is at least 1. `to` has room for `count` frames.
    /// Throws    as FrameSource::read_samples.
    virtual std::int64_t load_frames(std::int64_t first, std::int64_t count,
                                     std::span<std::byte> to) = 0;
};

/// Reads whole frames [first, first + count) of any source as stored, one after another.
///
/// Requires  existing frames, and a buffer of exactly their size (std::logic_error).
/// Throws    as FrameSource::read_samples.
void read_frames(FrameSource& source, std::int64_t first, std::int64_t count,
                 std::span<std::byte> to);

} // namespace sextant::format
