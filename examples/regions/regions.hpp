// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contours/components.hpp"

#include <vector>

namespace sextant::example {

/// A region and its brightness.
struct Region {
    kernel::RegionSize pixels;
    double brightness = 0; ///< mean of its pixels

    bool operator==(const Region&) const = default;
};

/// Finds regions of similar brightness: samples are quantised into bands, and a region consists of
/// 4-connected pixels of one band. Regions are connected components by value; parts of a region in
/// different tiles are merged as parts of a component are.
///
/// Input     samples of gray_u8 in tiles; the number of bands, 1 to 255.
/// Output    on rank 0 the regions in the order of their first pixels, row by row; nothing
///           elsewhere.
/// Throws    AgreedFailure on every rank if samples or bands are invalid.
/// Collective.
/// Deterministic  the same for every grid, merging pattern and number of ranks.
std::vector<Region> grow_regions(const distributed::Image& image, int bands,
                                 const contour::Pattern& pattern);

} // namespace sextant::example
