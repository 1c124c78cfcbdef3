// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>

// Rows of a gradient and of edges, in vectors.
namespace sextant::kernel {

struct GradientRow {
    const float *x, *y;
    Elements width;
    float low;              ///< a threshold
    float* lengths;         ///< where lengths go; of those below `low` no more than that is known
    std::uint8_t* headings; ///< and, of those from `low` on, the upper bits of edge_code.hpp
};

void measure_gradients(const GradientRow& row);

/// Lengths of three rows, readable from [−1] to [width] too.
struct EdgeRow {
    const float *above, *here, *below;
    const std::uint8_t* headings; ///< of the one in the middle
    float low, high;              ///< thresholds
    std::uint8_t* codes;
    Elements width;
};

/// What find_edges() finds in the row in the middle.
void classify_edges(const EdgeRow& row);

} // namespace sextant::kernel
