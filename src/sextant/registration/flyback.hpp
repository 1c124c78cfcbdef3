// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"

#include <span>
#include <vector>

// The stretch at the left edge of scanned frames that the flyback of the beam disturbs.
namespace sextant::registration {

/// The squared residuals of some columns of frames, each divided by the variance of its noise.
struct ColumnErrors {
    float squares = 0, count = 0;
};

/// Returns the number of columns at the left edge, of which residuals are stated, that may be
/// disturbed: an eighth of the width. Those of all other columns are added up.
inline std::size_t columns_at_edge(ImageShape shape) {
    return static_cast<std::size_t>(shape.width / 8);
}

/// Returns the number of disturbed columns at the left edge: up to the last one whose mean residual
/// exceeds that of the other columns by more than 8 % and four standard deviations, before three in
/// a row that do not. Two more columns are added, because the disturbance decreases gradually. 0 if
/// fewer than three columns are disturbed.
///
/// Input  the residuals of columns_at_edge() columns, followed by those of all others.
std::int64_t disturbed_columns(std::span<const ColumnErrors> errors);

/// A series, as f32, whose first columns are gaps (NaN).
class FlybackGaps : public FrameSource {
  public:
    /// The source must outlive this object.
    explicit FlybackGaps(FrameSource& source, std::int64_t columns = 0);

    void set_columns(std::int64_t columns) { columns_ = columns; }
    std::int64_t columns() const { return columns_; }

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override;

    FrameSource& source_;
    std::int64_t columns_;
    std::vector<float> samples_;
};

} // namespace sextant::registration
