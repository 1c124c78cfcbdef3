// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"
#include "sextant/distributed/contours.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant {

/// The linear representation of contours over ranks: every rank holds as many of all points, one
/// after another, or one more.
struct LinearPart {
    Elements contours = 0, points = 0; ///< of the whole image
    Elements first = 0;                ///< which of all points is this rank's first
    std::vector<Elements> pixels;      ///< this rank's
    std::vector<ContourLine> lines;    ///< those that begin here, by their first points of all
};

/// Is given a point's chain, its rank and its pixel.
using TakePoint = std::function<void(std::size_t chain, Elements rank, Elements pixel)>;

/// Each point of a tile of the grid's image, row by row, by a ranking of the tile and where its
/// chains lie.
/// Cost      8 bytes a pixel.
void each_point(const Grid& grid, const Tile& tile, const kernel::ContourRanking& ranking,
                const ContoursOfTile& contours, const TakePoint& take);

/// Moves the points of contours to where they lie in the linear representation.
///
/// Input     a ranking of this rank's tile and what merge_contours() made of it; how many points a
///           contour has at least that is kept.
/// Requires  as many ranks as tiles.
/// Collective.
/// Cost      a message to each other rank, of 16 bytes for each point that lies there; and
///           number_by_pixels().
/// Deterministic  the same points in the same order for every grid; on equally many ranks the same
///           parts.
LinearPart linearize(const Communicator& communicator, const Grid& grid,
                     const kernel::ContourRanking& ranking, const ContoursOfTile& contours,
                     Elements min_points = 1);

/// All of them at rank 0; elsewhere nothing. Collective.
ContourLines gather_lines(const Communicator& communicator, const Grid& grid,
                          const LinearPart& part);

} // namespace sextant
