// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

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

} // namespace sextant::kernel
