// SPDX-License-Identifier: BSD-3-Clause
// Sums over the samples in an interval equal those of a plain loop, for any number of samples.
#include "sextant/kernel/filter/sample_sums.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(SampleSums, equal_those_of_a_plain_loop_for_any_number_of_samples) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::mt19937 random(1);
    for (const std::size_t count : {0, 1, 3, 4, 7, 8, 31, 1023, 1024, 1025, 5000}) {
        std::vector<float> samples(count);
        for (float& sample : samples)
            sample = static_cast<float>(random() % 2000) - 500;
        for (std::size_t i = 0; i < count; i += 11)
            samples[i] = i % 2 == 0 ? nan : i % 3 == 0 ? infinity : -infinity;
        kernel::SampleSums expected;
        for (const float sample : samples) {
            if (!(sample >= -400 && sample <= 1400))
                continue;
            ++expected.count;
            expected.sum += static_cast<double>(sample - 500);
            expected.squares += std::pow(static_cast<double>(sample - 500), 2);
            expected.least = std::min(expected.least, sample);
            expected.largest = std::max(expected.largest, sample);
        }
        const kernel::SampleSums sums = kernel::sample_sums(samples, -400, 1400, 500);
        EXPECT_EQ(sums.count, expected.count) << count;
        EXPECT_NEAR(sums.sum, expected.sum, 1e-5 * expected.squares / 300) << count;
        EXPECT_NEAR(sums.squares, expected.squares, 1e-5 * expected.squares) << count;
        EXPECT_EQ(sums.least, expected.least) << count;
        EXPECT_EQ(sums.largest, expected.largest) << count;
    }
}

} // namespace
} // namespace sextant::test
