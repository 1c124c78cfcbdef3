// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/components.hpp"

#include <vector>

namespace sextant::example {

/// A region and its brightness.
struct Region {
    kernel::Component pixels;
    double brightness = 0; ///< mean of its pixels

    bool operator==(const Region&) const = default;
};

/// Regions of similar brightness: samples are sorted into bands, and pixels of one band that touch
/// at their sides are a region, also across tile borders. These are connected components by value,
/// and tiles are merged in the same way.
///
/// Input     samples of gray_u8 in tiles; the number of bands, 1 to 255.
/// Output    at rank 0 the regions in the order of their first pixels, row by row; nothing
///           elsewhere.
/// Requires  such samples and bands; otherwise every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid, pattern and number of ranks.
std::vector<Region> grow_regions(const distributed::Image& image, int bands,
                                 const contour::Pattern& pattern);

} // namespace sextant::example
