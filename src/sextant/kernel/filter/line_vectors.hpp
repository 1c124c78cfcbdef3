// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <span>

namespace sextant::kernel {

/// Converts a row of float, std::uint8_t or std::uint16_t samples to floats, in vectors.
template <class Sample>
void to_floats(const Sample* samples, Elements count, float* to);

// Vectorised functions of derivatives. Squares of intermediate values neither overflow nor
// underflow. Results have the same bits on every processor; every NaN becomes the same quiet NaN.

/// to[i] = √(x[i]² + y[i]²).
void lengths(const float* x, const float* y, Elements count, float* to);

/// Computes the eigenvalues of symmetric 2 × 2 or 3 × 3 matrices, the latter by Jacobi rotations.
/// Input     the rows of the upper triangle: xx, xy, yy; or xx, xy, xz, yy, yz, zz.
/// Output    to[0] ≥ to[1] (≥ to[2]); those that are null are not stored. Errors are a few units of
///           the last place of the eigenvalue of largest magnitude.
void eigenvalues(std::span<const float* const> of, float* const* to, Elements count);

/// One half of a symmetric or antisymmetric filter.
struct HalfFilter {
    const float* weights = nullptr; ///< [k]: the weight at distance k, 0 <= k <= reach
    int reach = 0;
    float* to = nullptr; ///< null: this filter is not applied
    bool stream = false; ///< bypass the caches; `to` is aligned to `stream_alignment`
};

/// One or two filters over the same lines, which are read once. Plain data, like Operands
/// (pixel_fold.hpp).
struct WeightedLines {
    const float* const* lines; ///< [k], [−k]: k-th line after and before the middle one
    Elements width;
    HalfFilter even; ///< symmetric weights
    HalfFilter odd;  ///< antisymmetric weights; the middle line, of weight 0, is not read
};

/// Lines are readable up to their width rounded up to a multiple of this.
inline constexpr Elements line_unit = 64;

/// even.to[x] = Σ w_k (lines[k][x] + lines[−k][x]) + w_0 lines[0][x], odd.to[x] = Σ w_k
/// (lines[k][x] − lines[−k][x]), summed from the largest k to the smallest, in single precision
/// without fused operations: the same bits at any position in a line, on every processor, with or
/// without the other filter. A sum that is not finite is recomputed from samples scaled by 2⁻³², so
/// that the overflow of an intermediate sum does not make the result infinite or NaN. Every NaN
/// becomes the quiet NaN 0x7fc00000.
/// Cost      per pair of samples: two loads and, per filter, an addition and a multiply-add.
void weigh_lines(const WeightedLines& job);

} // namespace sextant::kernel
