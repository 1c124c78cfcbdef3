// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/boundary.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/distributed/merging_record.hpp"
#include "sextant/kernel/label/contours.hpp"

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

} // namespace sextant
