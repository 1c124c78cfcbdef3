// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sextant::registration {

/// Changes the samples of some rows of a frame. Calls need not be in the order of frames or rows.
using RowChange = std::function<void(std::int64_t frame, Rows rows, std::span<float> samples)>;

/// Returns the header of a series that is read as grey images of f32.
FrameHeader as_grey_floats(FrameHeader header);

/// A series, as f32, whose samples are changed when they are read.
class ChangedFrames : public FrameSource {
  public:
    /// The source must outlive this object.
    ChangedFrames(FrameSource& source, RowChange change);

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);

    FrameSource& source_;
    RowChange change_;
    std::vector<float> samples_;
};

/// Inverts the contrast of some frames: their samples T become 2 · level − T, where level is the
/// frame's mean.
///
/// Input     for each frame, its level if it is to be inverted, otherwise NaN.
RowChange mirrored_at(std::vector<double> levels);

/// Turns the first columns, which the flyback of a scan disturbs (row_fit.hpp), into gaps (NaN).
///
/// Input     the width of a row.
RowChange without_columns(std::int64_t columns, Elements width);

} // namespace sextant::registration
