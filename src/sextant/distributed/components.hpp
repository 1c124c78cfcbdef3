// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/tiled_image.hpp"
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

/// The labels of an image that lies in tiles.
struct Labelled {
    distributed::Image labels; ///< of kernel::Label
    Elements components = 0;   ///< of the whole image
    /// What lies of a component in this rank's tile.
    struct Part {
        kernel::Label label = 0;
        kernel::Component measured;
    };
    std::vector<Part> parts;
};

inline constexpr ElementFormat label_i32{"label i32", sizeof(kernel::Label)};

/// Connected components of an image that lies in tiles: each rank labels its own, components are
/// joined over borders (join_components) and numbered by their first pixels (number_by_pixels).
///
/// Input     samples as RowSource reads them, as floats or as values; an order of merging; where to
///           record it, or nullptr.
/// Output    labels 1, 2, … in the order of the components' first pixels, row by row of the image:
///           those of kernel::Labeller.
/// Requires  fewer than 2³¹ components, a tile that kernel::Labeller takes; otherwise every rank
///           throws AgreedFailure.
/// Collective.
/// Deterministic  the same labels for every grid, pattern and number of ranks.
Labelled label_components(const distributed::Image& image, kernel::Connection connection,
                          const contour::Pattern& pattern, MergingRecord* record = nullptr);

/// All components at rank 0, [label − 1]; elsewhere nothing. Collective.
std::vector<kernel::Component> gather_components(const Labelled& labelled);

/// Throws InvalidTask for more components than there are labels.
void require_labels(Elements components);

} // namespace sextant
