// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

namespace sextant::kernel {

/// A row of samples as floats, in vectors: of float, std::uint8_t or std::uint16_t.
template <class Sample>
void to_floats(const Sample* samples, Elements count, float* to);

} // namespace sextant::kernel

// Functions of derivatives that take squares, in vectors: right for derivatives of any magnitude,
// and with the same bits on every processor. What is not a number becomes the one quiet NaN.
namespace sextant::kernel {

/// to[i] = √(x[i]² + y[i]²).
void lengths(const float* x, const float* y, Elements count, float* to);

/// The eigenvalues of [xx xy; xy yy], the larger for `sign` 1, the smaller for −1.
struct Hessians {
    const float *xx, *xy, *yy;
};
void eigenvalues(const Hessians& of, float sign, Elements count, float* to);

/// One half of a filter that is symmetric or antisymmetric.
struct HalfFilter {
    const float* weights = nullptr; ///< [k] of what lies k after, 0 <= k <= reach
    int reach = 0;
    float* to = nullptr; ///< none: there is no such filter
    bool stream = false; ///< write past the caches: `to` is aligned to `stream_alignment`
};

/// Up to two filters over the same lines, which are read once. Plain data, as Operands.
struct WeightedLines {
    const float* const* lines; ///< [k] is the line k after, [−k] the one k before
    Elements width;
    HalfFilter even; ///< of what lies k before too
    HalfFilter odd;  ///< and minus it; the line in the middle, of weight 0, is not read
};

/// Lines are readable up to their width rounded up to a multiple of this.
inline constexpr Elements line_unit = 64;

/// even.to[x] = Σ w_k (lines[k][x] + lines[−k][x]) + w_0 lines[0][x], odd.to[x] =
/// Σ w_k (lines[k][x] − lines[−k][x]), from the largest k to the smallest, in single precision and
/// without fused operations: the same bits at any place of a line, on every processor, with or
/// without the other filter. A sum that is not finite is computed once more from samples scaled by
/// 2⁻³², so that it is infinite, or not a number, only where it is so in any precision. What is not
/// a number becomes the one quiet NaN 0x7fc00000.
/// Cost      a pair of samples: two loads, and a filter an addition and a multiply-add.
void weigh_lines(const WeightedLines& job);

} // namespace sextant::kernel
