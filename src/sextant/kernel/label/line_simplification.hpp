// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace sextant::kernel {

/// The largest tolerance of simplify(), in pixels.
inline constexpr double most_tolerance = 1e6;

/// A contour of more points is simplified in pieces of this many links, counted from its head, so
/// that memory does not depend on its length. Squared distances times squared lengths in a piece
/// are below 2⁶³.
inline constexpr Elements links_per_piece = 1 << 15;

/// Receives the points that are kept, in order. `line`: the contour before simplification; `index`:
/// number of its points that were kept before.
using KeepPoint = std::function<void(const ContourLine& line, Elements index, Elements pixel)>;

/// Storage for the points of contours, one bit per pixel.
struct MaskStorage {
    /// Limit of the memory for parts of the image that have points; further parts are kept in a
    /// scratch file.
    Bytes memory = Bytes{1} << 40;
    std::string scratch = "./"; ///< path for ScratchFile
};

/// Approximates contours by straight segments between some of their points (Douglas-Peucker), and
/// keeps their topology. A stretch of a contour is replaced by the segment between its ends if
///   - each of its points is within `tolerance` of the segment, and
///   - no other point of any contour lies on the segment or in the area between the segment and
///     the stretch (by the even-odd rule);
/// otherwise it is divided at its farthest point (the first of them if several are equally far).
/// Decisions depend on the given points only, not on other decisions.
///
/// Both ends of an open contour are kept; of a closed contour, its head, the point farthest from
/// the head, and at least one more point. Points at multiples of `links_per_piece` are kept too.
///
/// The second condition implies: two segments cross only if the stretches that they replace cross
/// (as diagonals between the same four pixels do); every point of any other contour is inside a
/// closed contour after simplification if and only if it was before. Proof: the stretch and the
/// segment form a closed curve. Another stretch that crosses the segment passes from the inside of
/// this curve to the outside there, so it has a point inside or crosses the first stretch. Two
/// closed curves cross an even number of times, so a crossing of two segments cannot be their only
/// crossing.
///
/// Input     contours from the first one on, in which no pixel occurs twice; each point is adjacent
///           to the next one. `tolerance` in pixels; 0 removes exactly the points within straight
///           runs.
/// Throws    InvalidTask unless 0 <= tolerance <= most_tolerance; InvalidFile if the scratch file
///           cannot be written.
/// Cost      reads the contours twice; one bit per pixel of the image, see MaskStorage. O(points ·
///           log points) for usual contours, at most O(points · links_per_piece).
/// Source    Douglas, Peucker, Cartographica 10 (1973), doi:10.3138/FM57-6770-U75U-7727; for the
///           condition: de Berg, van Kreveld, Schirra, Cartography and GIS 25 (1998),
///           doi:10.1559/152304098782383007.
void simplify(LineReader& contours, double tolerance, const KeepPoint& keep,
              const MaskStorage& storage = {});

} // namespace sextant::kernel
