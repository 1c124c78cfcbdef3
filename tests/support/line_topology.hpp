// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <cstdint>
#include <vector>

// Simplified contours: a reference from the definition, and their topology, tested pair by pair.
// Contours of this folder's images have far fewer points than a piece.
namespace sextant::test {

struct LinePoint {
    std::int64_t x, y;
    bool operator==(const LinePoint&) const = default;
};

/// A stretch of a contour that is replaced by the segment between its ends.
using Stretch = std::vector<LinePoint>;

/// Returns the points of each contour; a closed contour ends at its head again.
std::vector<Stretch> paths_of(const ContourLines& lines);

/// Returns the simplified contours from the definition (kernel/label/line_simplification.hpp).
/// `topology`: whether stretches that sweep over points are divided; without, this is the plain
/// algorithm of Douglas and Peucker.
/// Cost      O(points²) for each stretch.
ContourLines simplified_reference(const ContourLines& lines, double tolerance,
                                  bool topology = true);

/// Returns the stretches of the contours that the simplified contours replace. Expects that the
/// points of the latter are some of the former, in order (fails the test otherwise).
std::vector<std::vector<Stretch>> stretches_of(const ContourLines& lines,
                                               const ContourLines& simplified);

/// The distance of a point from the segment between two others.
double distance_to_segment(LinePoint point, LinePoint a, LinePoint b);

/// The number of pairs of segments that have a point in common, other than the end of one segment
/// that is the beginning of the next, and whose stretches have none.
std::int64_t new_crossings(const std::vector<std::vector<Stretch>>& stretches);

/// True if the point is inside the closed path by the even-odd rule. Requires a point that is not
/// on it.
bool inside(LinePoint point, const Stretch& path);

} // namespace sextant::test
