// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/motion.hpp"
#include "sextant/registration/pyramid.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace sextant::registration {

/// The large-scale shading of a frame: the coefficients of the Legendre polynomials x, y, x², xy
/// and y² of positions in the frame, in units of the filtered frame's standard deviation.
using Shading = std::array<double, 5>;

Shading shading_of(const Pyramid& frame);

/// Two frames of a series, by index.
struct TwoFrames {
    std::size_t first, second;
};
/// Pairs of frames whose shading differs by so much that registrations would follow it, unless it
/// differs only because the specimen moved (shading_changes). At most one pair for each
/// coefficient: the frames a tenth from either end, in the order of its values.
std::vector<TwoFrames> frames_of_other_shading(std::span<const Shading> frames);

/// True if the shading of two frames differs as much where they show the same part of the
/// specimen: then it is not the motion of bright and dark parts that changes it, but for example
/// contamination. Also true if they overlap by less than a third.
///
/// Input     pyramids of one shape, and the registration of `moved` to `reference`.
bool shading_changes(const Pyramid& reference, const Pyramid& moved, const RigidMotion& motion,
                     bool inverted);

/// A series without its large-scale shading, as f32. The shading of a frame is smoothed from the
/// means of cells of 16x16 pixels by a local linear fit with Gaussian weights of σ = 24 pixels,
/// which follows slopes up to the border. The frame's mean does not change. Gaps are ignored.
///
/// Cost      the first access to a frame reads it whole; 1/64 of a frame is kept for each.
class FlattenedFrames : public FrameSource {
  public:
    /// The source must outlive this object.
    explicit FlattenedFrames(FrameSource& source);

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override;
    const std::vector<float>& shading(std::int64_t frame);
    std::vector<float> smoothed(std::span<const float> samples) const;

    FrameSource& source_;
    ImageShape cells_;
    std::vector<float> samples_;
    std::map<std::int64_t, std::vector<float>> shadings_; ///< at the centres of cells
};

} // namespace sextant::registration
