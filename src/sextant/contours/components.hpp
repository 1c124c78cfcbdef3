// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/kernel/label/labels.hpp"
#include "sextant/tiles/list_exchange.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <span>
#include <vector>

namespace sextant {

/// The connected components of this rank's tile alone.
struct ComponentsOfTile {
    kernel::ValueView input; ///< the labelled values of the tile
    kernel::Connection connection;
    const kernel::Labeller& labeller;       ///< the labeller that was last used on the tile
    std::span<const Elements> first_pixels; ///< first pixel of each component (Labeller)
    std::span<const std::uint8_t> marked =
        {}; ///< nonzero for marked components; empty if there are no marks
};

/// The component of the whole image that a component of a tile belongs to.
struct WholeComponent {
    Elements first = 0;  ///< first pixel of the whole component
    bool marked = false; ///< true if the component is marked in any tile
};

/// Returns a tile's list for merging: the non-background pixels at its borders. `position` is the
/// tile's position in the merging order.
contour::Frontier frontier_of(const ComponentsOfTile& tile, int position);
/// Returns, for each component of a tile, the whole component that contains it. `joined` is the
/// tile's own list joined with those of other tiles (contour::join).
std::vector<WholeComponent> parts_of(const ComponentsOfTile& tile, const contour::Frontier& own,
                                     std::span<const contour::BorderPixel> joined);

/// Returns the length of this rank's list of border pixels.
Elements border_entries(const ComponentsOfTile& tile);

/// Joins components across tile borders. Each tile lists the component of each of its border
/// pixels; a pattern merges these lists and drops pixels that are no longer at a border of the
/// merged tiles.
///
/// Input     `record`: receives this rank's trace of the merging, or nullptr.
/// Output    the whole component of each component of this rank's tile.
/// Requires  as many ranks as tiles; otherwise every rank throws AgreedFailure.
/// Collective.
/// Cost      the pattern's messages, each as long as the number of non-background pixels on the
///           border of the merged tiles; the same memory as merge_contours().
/// Deterministic  the same for every pattern, grid and number of ranks.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 5, doi:10.1006/jpdc.1996.0010
std::vector<WholeComponent> join_components(const Communicator& communicator, const Grid& grid,
                                            const ComponentsOfTile& tile,
                                            const contour::Pattern& pattern,
                                            MergingTrace* record = nullptr);

/// The labels of a tiled image.
struct Labelled {
    distributed::Image labels; ///< elements of kernel::Label
    Elements components = 0;   ///< number of components in the whole image
    /// The part of a component in this rank's tile.
    struct Part {
        kernel::Label label = 0;
        kernel::RegionSize measured;
    };
    std::vector<Part> parts;
    alignas(8) Elements nan =
        0; ///< number of NaN samples in this rank's tile, which are background
};

inline constexpr ElementFormat label_i32{"label i32", sizeof(kernel::Label)};

/// Labels the connected components of a tiled image: each rank labels its tile; components are
/// joined across borders (join_components) and numbered by their first pixels (number_by_pixels).
///
/// Input     samples as RowSource reads them, as floats or as values; the pattern that merges
///           lists; `record`: receives this rank's trace of the merging, or nullptr.
/// Output    labels 1, 2, … in row-major order of the components' first pixels: the same as those
///           of kernel::Labeller on the whole image.
/// Requires  fewer than 2³¹ components, and a tile that kernel::Labeller accepts; otherwise every
///           rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same labels for every grid, pattern and number of ranks.
Labelled label_components(const distributed::Image& image, kernel::Connection connection,
                          const contour::Pattern& pattern, MergingTrace* record = nullptr);

/// Returns all components on rank 0, indexed by label − 1, and none elsewhere. Collective.
std::vector<kernel::RegionSize> gather_components(const Labelled& labelled);

/// Throws InvalidTask if there are more components than labels.
void require_labels(Elements components);

} // namespace sextant
