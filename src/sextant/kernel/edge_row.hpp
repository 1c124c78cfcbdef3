// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>

namespace sextant::kernel {

/// A row of pixels and what find_edges() looks at; [−1] and [width] of squared lengths too.
struct EdgeRow {
    const float *x, *y;                ///< the gradient
    const float *above, *here, *below; ///< squared lengths of it, of three rows
    float low, high;                   ///< thresholds, squared
    std::uint8_t* edges;
    Elements width;
};

/// As find_edges(), in vectors.
void classify_edges(const EdgeRow& row);

} // namespace sextant::kernel
