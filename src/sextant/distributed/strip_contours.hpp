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

/// The codes of a direction map in some samples of it: to `to`, one after another.
/// Requires  rows one after another. Throws InvalidFile as below.
void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to);

/// The codes of a direction map that was read as samples: -1 no edge, -2 an end, 0 to 7 directions.
/// Throws InvalidFile, naming the pixel, for any other value.
Image directions_from(const Image& samples, const std::string& path);

/// How far around a tile ranking reads.
inline constexpr Elements ranking_margin = 2;

/// Directions of this rank's tile of a strip and the pixels within `ranking_margin` of it, as far
/// as the image goes. All ranks ask at once.
using StripDirections = std::function<std::vector<kernel::Direction>(int strip)>;

/// Those of thinned edges, which must outlive them.
StripDirections directions_of(const StripWork& work, const BytePlane& edges);
/// Those of a direction map. Throws AgreedFailure for other codes.
StripDirections directions_in(const StripWork& work, RowSource& source);

/// How often contours meet, of the whole map.
struct Junctions {
    Elements junctions = 0, cut = 0;
};

/// Heads and ranks of contours in strips, by the merge of distributed/contour_merging.hpp in time:
/// down the image to learn what crosses the seams, and up it to know the points, which rank 0
/// orders. Collective. Throws    AgreedFailure for maps that ContourRanking refuses. Cost every
/// strip is ranked twice; 24 bytes a point of a strip.
Junctions rank_strips(const StripWork& work, const StripDirections& directions, PointOrder* points);

} // namespace sextant::distributed
