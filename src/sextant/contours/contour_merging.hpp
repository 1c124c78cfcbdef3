// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/contour_lines.hpp"
#include "sextant/kernel/label/contour_ranking.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant {

/// Maps the chains of this rank's tile to contours of the whole image. Both lists are indexed by
/// chain, as is the output of ContourRanking::write().
struct ContoursOfTile {
    std::vector<Elements> heads;           ///< for each chain, the pixel of its contour's head
    std::vector<kernel::Placing> placings; ///< for each chain, argument of ContourRanking::write()
};

/// Finds the contours of a tiled image, one tile per rank. Each tile lists its crossings: the
/// points where contours enter the tile, with the points where they end or leave it. A pattern
/// merges these lists, so that each rank knows the ends of the contours that leave its tile.
///
/// Input     the grid; a ranking that was applied to this rank's tile; `record`: receives this
///           rank's trace of the merging, or nullptr.
/// Output    the same heads and ranks (`ranking.write(result.placings, …)`) as in the whole image.
/// Requires  as many ranks as tiles, and fewer than 2³¹ points per contour; otherwise every rank
///           throws AgreedFailure.
/// Collective.
/// Cost      the pattern's messages, each as long as the number of contours that enter the merged
///           tiles; address space for about p lists of all crossings for p ranks, of which only the
///           pages used are touched.
/// Deterministic  the same for every pattern, grid and number of ranks.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 5, doi:10.1006/jpdc.1996.0010
ContoursOfTile merge_contours(const Communicator& communicator, const Grid& grid,
                              const kernel::ContourRanking& ranking,
                              const contour::Pattern& pattern, MergingTrace* record = nullptr);

/// Returns a tile's list for merging: the crossings of contours that enter the tile, sorted by
/// pixel. `position` is the tile's position in the merging order.
contour::Boundary boundary_of(const kernel::ContourRanking& ranking, int position);

/// Maps the chains of a tile to contours of the whole image.
/// Input     the crossings at which the chains that leave the tile continue, sorted by pixel and
///           followed to the heads of their contours.
/// Throws    InvalidTask if the rank of a point on its contour is 2³¹ − 1 or more.
ContoursOfTile place_chains(const kernel::ContourRanking& ranking,
                            std::span<const contour::Crossing> crossings);

/// The number of junctions of contours, and the number of links that are cut at junctions. A tile
/// counts its own junctions and the cut links of its own points.
struct Junctions {
    Elements junctions = 0, cut = 0;
};
/// Returns the sums over all ranks. Collective.
Junctions sum_over_ranks(const Communicator& communicator, const Junctions& own);

/// This rank's part of the linear representation of contours: all points in one sequence, divided
/// evenly among ranks.
struct LinearPart {
    Elements contours = 0, points = 0; ///< totals of the whole image
    Elements first = 0;                ///< index of this rank's first point among all points
    std::vector<Elements> pixels;      ///< this rank's points
    std::vector<ContourLine>
        lines; ///< contours that begin in this rank's part; `first` is a global index
};

/// Called with a point's chain, its rank on the contour, and its pixel.
using TakePoint = std::function<void(std::size_t chain, Elements rank, Elements pixel)>;

/// Calls `take` for each point of a tile, row by row.
/// Cost      8 bytes per pixel.
void each_point(const Grid& grid, const Tile& tile, const kernel::ContourRanking& ranking,
                const ContoursOfTile& contours, const TakePoint& take);

/// Moves each point of a contour to the rank that holds the point in the linear representation.
///
/// Input     a ranking of this rank's tile and the result of merge_contours(); the minimum number
///           of points of a contour that is kept.
/// Requires  as many ranks as tiles.
/// Collective.
/// Cost      a message to each other rank with 16 bytes per point; and the cost of
///           number_by_pixels().
/// Deterministic  the same points in the same order for every grid; the same parts for the same
///           number of ranks.
LinearPart linearize(const Communicator& communicator, const Grid& grid,
                     const kernel::ContourRanking& ranking, const ContoursOfTile& contours,
                     Elements min_points = 1);

/// Returns all contours on rank 0 and none elsewhere. Collective.
ContourLines gather_lines(const Communicator& communicator, const Grid& grid,
                          const LinearPart& part);

} // namespace sextant
