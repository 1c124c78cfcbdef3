// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/catalogue.hpp"
#include "sextant/distributed/image.hpp"
#include "sextant/distributed/merging_record.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <vector>

namespace sextant {

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
