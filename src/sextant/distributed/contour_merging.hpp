// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/contour_lines.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/kernel/label/contour_ranking.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant {

/// Where the chains of this rank's tile lie on the contours of the whole image.
struct ContoursOfTile {
    std::vector<Elements> heads;           ///< [chain]: its contour's head, a pixel of the image
    std::vector<kernel::Placing> placings; ///< [chain]: for ContourRanking::write(); contours are
                                           ///< numbered as chains are
};

/// Finds the contours of an image that lies in tiles, one a rank: each tile tells where contours
/// come into it and where they go; these lists, which are as long as contours cross borders, are
/// merged by a pattern; then each rank knows where those that leave its tile end.
///
/// Input     the grid; a ranking that was applied to this rank's tile of it; where to record the
///           merging, or nullptr.
/// Output    heads and ranks (`ranking.write(result.placings, …)`) as in the whole image.
/// Requires  as many ranks as tiles, ranks of points below 2³¹; otherwise
///           every rank throws AgreedFailure.
/// Collective.
/// Cost      the pattern's messages, each as long as what comes into the merged tiles from outside;
///           memory for some p lists of all crossings, of which what is used is touched.
/// Deterministic  the same for every pattern, grid and number of ranks.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 5, doi:10.1006/jpdc.1996.0010
ContoursOfTile merge_contours(const Communicator& communicator, const Grid& grid,
                              const kernel::ContourRanking& ranking,
                              const contour::Pattern& pattern, MergingRecord* record = nullptr);

/// What comes into a tile at this position of a pattern's order, by pixels.
contour::Boundary boundary_of(const kernel::ContourRanking& ranking, int position);

/// Where the chains of a tile lie, once all crossings are known that those which leave it go on
/// with: by pixels, led on to their heads.
/// Throws    InvalidTask for ranks of 2³¹ − 1 and more.
ContoursOfTile place_chains(const kernel::ContourRanking& ranking,
                            std::span<const contour::Crossing> crossings);

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
