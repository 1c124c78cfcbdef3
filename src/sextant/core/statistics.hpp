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

/// The interval between two of the values, of equal rank from below and above, that holds the
/// median of what they were drawn from in at least 95 % of cases, whatever their distribution. All
/// of at least one value where six are not there. Cheaper than the bootstrap.
Interval interval_by_rank(std::span<const double> values);

/// The least of at least one value that so large a share of them does not exceed: .95 of 4 values
/// is the largest.
double quantile(std::span<const double> values, double share);

} // namespace sextant
