// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <span>

namespace sextant::machine {

/// What measured points say of a size: a median and an interval, in seconds.
struct Estimate {
    double median = 0, low = 0, high = 0;
    bool extrapolated = false; ///< the size or the block lies outside what was measured
};

/// By size alone: piecewise linear between the measured sizes, the last piece continued beyond
/// them, never below zero. Of several points of one size the first counts.
///
/// Requires  at least one point, ordered by size (std::invalid_argument).
Estimate at_size(std::span<const Point> points, Bytes bytes);

/// By size and block length: by size within each block length that was measured, then linear in
/// the logarithm of the block. Messages of no bytes belong to every block. Where no block length
/// was measured at two sizes (a fixed number of blocks was), by size alone, and flagged where the
/// measured block nearest in size is more than twice as long or short.
///
/// Requires  as at_size.
Estimate at_size_and_block(std::span<const Point> points, Bytes bytes, Bytes block);

/// One pass over so many operands of so many elements: linear in the elements between measured
/// sizes, linear in the operands between measured numbers of them; each operand beyond costs what
/// the last measured one added, and with one number measured, its share of what an operand after
/// the first costs. Sizes and operands outside are flagged.
///
/// Requires  at least one pass, ordered by elements; operands >= 1.
Estimate at_pass(std::span<const Pass> passes, Elements elements, int operands);

/// T(n) = constant + n · slope.
struct Line {
    double constant = 0, slope = 0;
};

/// A line for models that know no other: through the cost of the smallest message, with the slope
/// that makes the squares of the relative errors smallest.
///
/// Requires  as at_size.
Line fitted_line(std::span<const Point> points);

} // namespace sextant::machine
