// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/canny.hpp"

#include <vector>

namespace sextant::kernel {

/// Edges of a whole image, from the definition, step by step.
struct Edges {
    std::vector<std::uint8_t> maxima;  ///< as find_edges()
    std::vector<std::uint8_t> kept;    ///< those that hang together with a strong one (8
                                       ///< neighbours), as weak ones with their headings
    std::vector<std::uint8_t> thinned; ///< of those, what Thinning leaves when nothing changes
    std::vector<Direction> directions; ///< as find_directions()
};

/// What the steps of the detector mean, and are tested against.
/// Input     the gradient of the whole image.
/// Requires  thresholds as find_edges().
/// Cost      O(pixels) for each round of thinning.
Edges canny_reference(const GradientView& gradient, EdgeThresholds thresholds);

} // namespace sextant::kernel
