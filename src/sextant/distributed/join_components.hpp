// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/frontier.hpp"
#include "sextant/distributed/merging_record.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <span>
#include <vector>

namespace sextant {

/// The components of this rank's tile alone.
struct ComponentsOfTile {
    kernel::ValueView input; ///< what was labelled: the tile
    kernel::Connection connection;
    const kernel::Labeller& labeller;          ///< that labelled it last
    std::span<const Elements> first_pixels;    ///< of its components, as Labeller has them
    std::span<const std::uint8_t> marked = {}; ///< [component] not 0: it has a mark; or none has
};

/// What a component of a tile is a part of.
struct PartOf {
    Elements first = 0;  ///< the first pixel of the whole component
    bool marked = false; ///< some part of it has a mark
};

/// What is to be told of a tile at this position of an order: the pixels on its sides that are not
/// background.
contour::Frontier frontier_of(const ComponentsOfTile& tile, int position);
/// What each of a tile's components has become, by that list joined with others' (contour::join).
std::vector<PartOf> parts_of(const ComponentsOfTile& tile, const contour::Frontier& own,
                             std::span<const contour::BorderPixel> joined);

/// How many pixels this rank has to tell others of.
Elements border_entries(const ComponentsOfTile& tile);

/// Joins the components of tiles over their borders: each tile tells which pixels on its border
/// belong together; these lists are merged by a pattern, and what lies within merged tiles is left
/// out.
///
/// Input     where to record the merging, or nullptr.
/// Output    [component of this tile].
/// Requires  as many ranks as tiles; otherwise every rank throws AgreedFailure.
/// Collective.
/// Cost      the pattern's messages, each as long as the border of merged tiles has pixels that are
///           not background; memory as merge_contours().
/// Deterministic  the same for every pattern, grid and number of ranks.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 5, doi:10.1006/jpdc.1996.0010
std::vector<PartOf> join_components(const Communicator& communicator, const Grid& grid,
                                    const ComponentsOfTile& tile, const contour::Pattern& pattern,
                                    MergingRecord* record = nullptr);

} // namespace sextant
