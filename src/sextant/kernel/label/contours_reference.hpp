// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/directions.hpp"

#include <vector>

namespace sextant::kernel {

/// An edge point's place on its contour.
struct Ranked {
    Elements head = -1; ///< the pixel, y · width + x, that its contour ends at; −1: no edge point
    Elements rank = -1; ///< links to it
    bool operator==(const Ranked&) const = default;
};

/// Contours of a whole direction map from the definition: links to one point are cut but that of
/// the lowest direction; then every contour is walked from its head against its links. A closed
/// contour has its smallest pixel as head. What ContourRanking means, and is tested against.
///
/// Output    of every pixel, row by row.
/// Requires  a view of the whole image whose links lead to edge points; otherwise throws
///           InvalidTask.
/// Cost      O(pixels).
std::vector<Ranked> contours_reference(const DirectionView& input);

} // namespace sextant::kernel
