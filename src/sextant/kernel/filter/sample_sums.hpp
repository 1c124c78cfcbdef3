// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace sextant::kernel {

/// Sums of the differences of samples from a value, over the samples in an interval.
struct SampleSums {
    std::int64_t count = 0;
    double sum = 0, squares = 0;
    float least = std::numeric_limits<float>::infinity(), largest = -least;
};

/// Sums the samples from `low` to `high`, both included; NaN is never included.
///
/// Input     `shift`: a value near the samples, so that differences keep their precision.
/// Output    `squares` is infinite if the square of a difference overflows a float.
/// Cost      one pass, about 14 operations per vector of samples.
/// Deterministic  the same bits on processors of the same kind.
SampleSums sample_sums(std::span<const float> samples, float low, float high, float shift);

} // namespace sextant::kernel
