// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace sextant {

namespace {

double median_reordering(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

bool all_finite(std::span<const float> samples) {
    constexpr std::uint32_t exponent = 0x7f800000;
    std::uint32_t any = 0;
    for (const float sample : samples)
        any |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(sample) & exponent) ==
                                          exponent);
    return any == 0;
}

double median(std::span<const double> values) {
    std::vector<double> copy(values.begin(), values.end());
    return median_reordering(copy);
}

Interval interval_of_median(std::span<const double> values) {
    constexpr int draws = 2000;
    std::mt19937 random(12345);
    std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
    std::vector<double> medians, sample(values.size());
    for (int draw = 0; draw < draws; ++draw) {
        for (double& value : sample)
            value = values[pick(random)];
        medians.push_back(median_reordering(sample));
    }
    std::sort(medians.begin(), medians.end());
    return {medians[draws / 40], medians[draws - 1 - draws / 40]};
}

Interval interval_by_rank(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<double>(sorted.size());
    // The number of values below the median has a binomial distribution, here approximated by a
    // normal one.
    const auto below =
        static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - .98 * std::sqrt(n))));
    return {sorted[below], sorted[sorted.size() - 1 - below]};
}

double quantile(std::span<const double> values, double share) {
    std::vector<double> copy(values.begin(), values.end());
    const double up_to = share * static_cast<double>(copy.size());
    const auto place = static_cast<std::ptrdiff_t>(std::max(0., std::ceil(up_to - 1e-9) - 1));
    std::nth_element(copy.begin(), copy.begin() + place, copy.end());
    return copy[static_cast<std::size_t>(place)];
}

} // namespace sextant
