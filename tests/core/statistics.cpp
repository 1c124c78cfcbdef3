// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Statistics, the_median_is_the_middle_value) {
    EXPECT_EQ(median(std::vector<double>{5}), 5);
    EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
    EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 3);
}

TEST(Statistics, the_median_interval_contains_the_true_median_in_most_samples) {
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
    EXPECT_GE(held, samples * 88 / 100); // nominally 95 %, but the bootstrap is not exact
    EXPECT_LT(held, samples);            // the interval is no wider than necessary
}

TEST(Statistics, the_interval_from_order_statistics_contains_the_true_median_in_most_samples) {
    std::mt19937 random(5);
    std::exponential_distribution<double> draw(1);
    for (const std::size_t size : {7u, 20u, 41u}) {
        int held = 0;
        for (int i = 0; i < 1000; ++i) {
            std::vector<double> values(size);
            for (double& value : values)
                value = draw(random);
            const Interval interval = interval_by_rank(values);
            held += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
        }
        EXPECT_GE(held, 930) << size;
        EXPECT_LE(held, 999) << size;
    }
    const Interval few = interval_by_rank(std::vector<double>{3, 1, 2});
    EXPECT_EQ(few.low, 1);
    EXPECT_EQ(few.high, 3);
}

TEST(Statistics, a_quantile_is_the_smallest_value_not_exceeded_by_the_given_fraction_of_values) {
    const std::vector<double> values = {5, 1, 4, 2, 3};
    EXPECT_EQ(quantile(values, 0), 1);
    EXPECT_EQ(quantile(values, .5), 3);
    EXPECT_EQ(quantile(values, 1), 5);
    EXPECT_EQ(quantile(values, .8), 4);
    EXPECT_EQ(quantile(values, .81), 5);
    EXPECT_EQ(quantile(std::vector<double>{7, 1, 3, 2}, .95), 7);
}

} // namespace
} // namespace sextant::test
