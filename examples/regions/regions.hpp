// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/components.hpp"

#include <vector>

namespace sextant::example {

/// What is known of a region.
struct Region {
    kernel::Component pixels;
    double brightness = 0; ///< the mean of its pixels

    bool operator==(const Region&) const = default;
};

/// Regions of like brightness, grown until they meet: samples are sorted into bands, and pixels of
/// one band that touch at their sides are a region, over the borders of tiles too. So growing is a
/// question to components by value, and tiles are merged as theirs.
///
/// Input     samples of gray_u8 in tiles; how many bands they are sorted into, 1 to 255.
/// Output    at rank 0 regions in the order of their first pixels, row by row; elsewhere nothing.
/// Requires  such samples and bands; otherwise every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid, pattern and number of ranks.
std::vector<Region> grow_regions(const distributed::Image& image, int bands,
                                 const contour::Pattern& pattern);

} // namespace sextant::example
