// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/point_order.hpp"
#include "sextant/distributed/strip_edges.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/kernel/filter/samples.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant::distributed {

/// Converts samples of a direction map to codes, written one after another to `to`.
/// Requires  rows without gaps between them.
/// Throws    InvalidFile as directions_from().
void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to);

/// The codes of a direction map that was read as samples: -1 no edge, -2 an end, 0 to 7 directions.
/// Throws InvalidFile, naming the pixel, for any other value.
Image directions_from(const Image& samples, const std::string& path);

/// The margin around a tile that ranking reads.
inline constexpr Elements ranking_margin = 2;

/// Returns the directions of this rank's tile of a strip, with `ranking_margin` pixels around it,
/// clipped to the image. Collective.
using StripDirections = std::function<std::vector<kernel::Direction>(int strip)>;

/// Directions of thinned edges; `edges` must outlive the result.
StripDirections directions_of(const StripWork& work, const BytePlane& edges);
/// Directions read from a direction map. Throws AgreedFailure for other codes.
StripDirections directions_in(const StripWork& work, RowSource& source);

/// Counts of the whole map: junctions of contours, and links that are cut there.
struct Junctions {
    Elements junctions = 0, cut = 0;
};

/// Computes heads and ranks of contours strip by strip, by the merge of
/// distributed/contour_merging.hpp: a pass down the image finds the crossings of the seams, a pass
/// up computes the points, which rank 0 adds to `points`.
/// Throws    AgreedFailure for maps that ContourRanking refuses.
/// Collective.
/// Cost      every strip is ranked twice; 24 bytes per point of a strip.
Junctions rank_strips(const StripWork& work, const StripDirections& directions, PointOrder* points);

} // namespace sextant::distributed
