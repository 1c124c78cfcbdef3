// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <array>
#include <cstdint>
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
/// Returns pairs of frames whose shading differs so much that a registration would follow the
/// shading instead of the specimen. The motion of the specimen may cause the difference;
/// shading_changes() tests for that. Returns at most one pair per coefficient: the frames at the
/// first and last decile of its values.
std::vector<TwoFrames> frames_of_other_shading(std::span<const Shading> frames);

/// Returns true if the shading of two frames differs significantly in their overlap, where both
/// show the same part of the specimen. The cause is then not the motion of bright and dark parts,
/// but for example contamination. Also returns true if the frames overlap by less than a third.
///
/// Input     pyramids of equal shape; the motion that registers `moved` to `reference`; `inverted`
///           is true if the contrast of `moved` is inverted.
bool shading_changes(const Pyramid& reference, const Pyramid& moved, const RigidMotion& motion,
                     bool inverted);

/// Removes the large-scale shading of frames. The shading is a local linear fit to the means of
/// 16x16 pixel cells, with Gaussian weights of σ = 24 pixels. A linear fit follows slopes up to the
/// border. The frame's mean does not change. Gaps are ignored.
///
/// Cost      the first access to a frame reads the whole frame from `source`, which must outlive
///           the result. Memory: 1/64 of the frame's pixels per frame.
RowChange without_shading(FrameSource& source);

} // namespace sextant::registration
