// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/team.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/registration/displacement_field.hpp"

#include <functional>
#include <span>
#include <variant>
#include <vector>

namespace sextant::registration {

/// φ, with T∘φ ≈ R.
using Transform = std::variant<RigidMotion, DisplacementField>;

/// Of a frame of a series; asked for when it is needed, since fields are large.
using TransformOf = std::function<Transform(std::int64_t frame)>;

/// φ(x), of images of that shape.
Point apply(const Transform& transform, Point x, ImageShape shape);
/// φ⁻¹(y). Throws InvalidTask where a field folds.
Point apply_inverse(const Transform& transform, Point y, ImageShape shape);

/// Shows frames of a series where they lie: some rows of T∘φ at a time, from the rows of T that
/// these need. Bilinear, which makes nothing darker or brighter than it was; motions by whole
/// pixels copy samples, bit for bit. NaN where φ leads out of the frame, and where a sample that
/// has weight is NaN.
///
/// A team shares the rows. Deterministic  the same bits however the rows are cut.
class Resampler {
  public:
    /// Requires  frames of at least 2x2 pixels (InvalidTask), a source that stays, as a team does.
    explicit Resampler(FrameSource& source, Team* team = nullptr);

    /// Requires  room for exactly these rows (std::logic_error), a field of the frames' size
    ///           (InvalidTask).
    /// Throws    as FrameSource.
    void show(std::int64_t frame, const Transform& transform, Rows rows, std::span<float> to);

  private:
    void read(std::int64_t frame, double lowest, double highest);
    float sample(Point at) const;

    FrameSource& source_;
    Team* team_;
    Rows held_; ///< the rows of the frame that are in memory
    std::vector<float> samples_;
};

} // namespace sextant::registration
