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

/// Removes the large-scale shading of frames. The shading of a frame is smoothed from the means of
/// cells of 16x16 pixels by a local linear fit with Gaussian weights of σ = 24 pixels, which
/// follows slopes up to the border. The frame's mean does not change. Gaps are ignored.
///
/// Cost      the first access to a frame reads it whole from `source`, which must outlive the
///           result; 1/64 of a frame is kept for each.
RowChange without_shading(FrameSource& source);

} // namespace sextant::registration
