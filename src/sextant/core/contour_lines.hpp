// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <vector>

namespace sextant {

/// A contour's points among those of all.
struct ContourLine {
    Elements first = 0;
    Elements points = 0;
    bool closed = false; ///< its last point is followed by its first
};

/// The linear representation of contours: the points of each one after another, by rank, from its
/// head on; contours in the order of their heads, row by row.
struct ContourLines {
    ImageShape image;
    std::vector<Elements> pixels; ///< y · width + x
    std::vector<ContourLine> lines;
};

} // namespace sextant
