// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Statistics, TheMedianIsTheMiddleValue) {
    EXPECT_EQ(median(std::vector<double>{5}), 5);
    EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
    EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 3);
}

TEST(Statistics, TheIntervalHoldsTheTrueMedianInMostSamples) {
    std::mt19937 random(3);
    std::exponential_distribution<double> draw(1);
    const double truth = std::log(2.0);
    int held = 0;
    constexpr int samples = 200;
    for (int i = 0; i < samples; ++i) {
        std::vector<double> values(41);
        for (double& value : values)
            value = draw(random);
        const Interval interval = interval_of_median(values);
        held += interval.low <= truth && truth <= interval.high;
    }
    EXPECT_GE(held, samples * 88 / 100); // 95 % but for the bootstrap's own error
    EXPECT_LT(held, samples);            // and it is no wider than it must be
}

} // namespace
} // namespace sextant::test
