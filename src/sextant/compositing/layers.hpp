// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"

#include <vector>

namespace sextant::compositing {

/// The same pixels of each of a rank's layers, which follow one another in its input: one region, a
/// run a layer. `pixels` lies in the first layer.
inline Region in_all_layers(const Region& pixels, Elements image, int layers) {
    return {pixels.buffer, pixels.offset, pixels.length, image, layers};
}

/// Appends each run of a region as a region of its own, as the operands of a fold.
inline void append_runs(std::vector<Region>& operands, const Region& region) {
    for (Elements i = 0; i < region.count; ++i) {
        operands.push_back(block(region.buffer, region.offset + i * region.stride, region.length));
    }
}

} // namespace sextant::compositing
