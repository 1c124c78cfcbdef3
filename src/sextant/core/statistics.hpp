// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace sextant {

/// True if no sample is infinite or NaN. Vectorised.
bool all_finite(std::span<const float> samples);

/// The median; of an even number of values, the upper of the two middle ones. Requires at least one
/// value.
double median(std::span<const double> values);

struct Interval {
    double low = 0, high = 0;
};

/// The 95 % bootstrap confidence interval of the median. Requires at least one value.
/// Deterministic  the same values give the same interval.
Interval interval_of_median(std::span<const double> values);

/// A distribution-free confidence interval of the median, between two of the values (order
/// statistics of equal rank from below and above), with a coverage of at least 95 %. For fewer than
/// six values, it is their whole range. Requires at least one value. Cheaper than the bootstrap.
Interval interval_by_rank(std::span<const double> values);

/// The smallest of the values such that at least the fraction `share` of all values do not exceed
/// it: the .95 quantile of 4 values is the largest. Requires at least one value.
double quantile(std::span<const double> values, double share);

} // namespace sextant
