// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace sextant::bench {

inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Interval {
    double low = 0, high = 0;
};

/// The 95 % bootstrap interval of the median.
inline Interval interval_of_median(const std::vector<double>& values) {
    constexpr int draws = 2000;
    std::mt19937 random(12345);
    std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
    std::vector<double> medians, sample(values.size());
    for (int draw = 0; draw < draws; ++draw) {
        for (double& value : sample)
            value = values[pick(random)];
        medians.push_back(median(sample));
    }
    std::sort(medians.begin(), medians.end());
    return {medians[draws / 40], medians[draws - 1 - draws / 40]};
}

} // namespace sextant::bench
