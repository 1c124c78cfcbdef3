// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sextant::registration {

/// Receives rows of a resampled area, in order.
using ResampledRows = std::function<void(std::span<const float> rows)>;

/// Resamples frames of a series into the coordinates of the reference. Computes one area of T∘φ at
/// a time and reads only the rows of T that contribute to this area. Interpolation is bilinear and
/// never overshoots; translations by whole pixels copy samples bit for bit. The result is NaN where
/// φ maps outside the frame and where a sample with non-zero weight is NaN. For a RowMotion, a
/// sample is interpolated between two rows of the frame, and each row is displaced by its own
/// offset.
///
/// The rows are divided among the team's threads. Deterministic: the bits do not depend on how rows
/// are divided.
class Resampler {
  public:
    /// Requires  frames of at least 2x2 pixels (InvalidTask). The source and the team must outlive
    ///           this object.
    explicit Resampler(FrameSource& source, Team* team = nullptr);

    /// Writes an area of T∘φ, in the coordinates of the reference, to `to`. If the frame does not
    /// reach the area, does not read the frame, sets all samples to NaN and returns false.
    /// Requires  `to` has exactly the size of the area (std::logic_error); a field has the frames'
    ///           size (InvalidTask), and the area is within the reference (std::logic_error).
    /// Throws    the same exceptions as FrameSource.
    ///
    /// `continued`: true if the last area with data was computed from the same frame. Rows that are
    /// in memory are then not read again.
    bool resample(std::int64_t frame, const Transform& transform, const PixelArea& area,
                  std::span<float> to, bool continued = false);

    /// Resamples an area as resample() does, but passes the result to `take` in blocks of rows,
    /// from top to bottom, using `buffer`. Rows of the frame are read once, in order, unless the
    /// frame is rotated by more than 90 degrees.
    void resample_rows(std::int64_t frame, const Transform& transform, const PixelArea& area,
                       std::vector<float>& buffer, const ResampledRows& take);

  private:
    void read(std::int64_t frame, double lowest, double highest);
    template <class OffsetOf>
    float sample(double x, double y, const OffsetOf& offset_of) const;
    void sample_row(std::span<const Point> positions, float* to) const;
    bool sample_run(const AffineMotion& phi, Point c, std::int64_t first, double y,
                    std::span<float> to) const;

    FrameSource& source_;
    Team* team_;
    Rows held_; ///< rows of the frame that are in memory
    std::vector<float> samples_;
};

} // namespace sextant::registration
