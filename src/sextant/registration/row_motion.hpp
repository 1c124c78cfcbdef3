// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"

#include <cstddef>
#include <vector>

namespace sextant::registration {

/// A motion of a frame whose rows are recorded one after another, as by a scan. Each row y of the
/// frame is displaced by d(y) in addition to a rigid motion φ: the feature at x in the reference is
/// at p = φ(x) + d(p.y) in the frame. d is linear between rows, and constant beyond the first and
/// the last one.
struct RowMotion {
    RigidMotion motion;        ///< φ
    std::vector<float> dx, dy; ///< d per row of the frame, to the right and downward, pixels
    std::vector<float> sigma;  ///< standard deviation of dx, pixels; may be empty
};

/// Interpolates a value per row, at least one, at a position between rows.
inline double between_rows(const std::vector<float>& values, double y) {
    const auto last = static_cast<double>(values.size() - 1);
    const double at = y > 0 ? (y < last ? y : last) : 0;
    const auto above = static_cast<std::size_t>(at);
    const std::size_t below = above + 1 < values.size() ? above + 1 : above;
    const double v = at - static_cast<double>(above);
    return (1 - v) * static_cast<double>(values[above]) + v * static_cast<double>(values[below]);
}

/// Returns d(y).
Point displacement(const RowMotion& motion, double y);

/// Returns the y coordinate in the frame of a feature whose rigid motion ends at `y`: the solution
/// p of p = y + d(p).y. The iteration starts at `start`, which need not be near the solution.
/// Requires  rows that keep their order: |d.y'| < 1. Throws InvalidTask with the row otherwise.
double displaced_row(const RowMotion& motion, double y, double start);

/// Returns the position in a frame with centre c of the feature at x in the reference. Throws as
/// displaced_row().
Point apply(const RowMotion& motion, Point x, Point c);

/// Returns the position in the reference of the feature at p in a frame with centre c.
Point apply_inverse(const RowMotion& motion, Point p, Point c);

} // namespace sextant::registration
