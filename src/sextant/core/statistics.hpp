// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace sextant {

/// The middle of at least one value, the upper one of two.
double median(std::span<const double> values);

struct Interval {
    double low = 0, high = 0;
};

/// The 95 % bootstrap interval of the median of at least one value.
/// Deterministic    the same values give the same interval.
Interval interval_of_median(std::span<const double> values);

} // namespace sextant
