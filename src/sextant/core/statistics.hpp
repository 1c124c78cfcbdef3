// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace sextant {

/// The median of at least one value, the upper of two middle ones.
double median(std::span<const double> values);

struct Interval {
    double low = 0, high = 0;
};

/// The 95 % bootstrap interval of the median of at least one value.
/// Deterministic  the same values give the same interval.
Interval interval_of_median(std::span<const double> values);

/// A distribution-free confidence interval of the median, between two of the values (order
/// statistics of equal rank from below and above), with a coverage of at least 95 %. With fewer
/// than six values, their whole range. Requires at least one value. Cheaper than the bootstrap.
Interval interval_by_rank(std::span<const double> values);

/// The smallest of at least one value such that the fraction `share` of the values does not exceed
/// it: .95 of 4 values is the largest.
double quantile(std::span<const double> values, double share);

} // namespace sextant
