// SPDX-License-Identifier: BSD-3-Clause
// Medians of several pixels at a time, compared with sorted values.
#include "sextant/registration/transform/combined.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::middle_of;
using registration::PixelMedians;

/// The median by sorting.
float sorted_middle(std::vector<float> values) {
    std::sort(values.begin(), values.end());
    const double below = double{values[(values.size() - 1) / 2]},
                 above = double{values[values.size() / 2]};
    return static_cast<float>((below + above) / 2);
}

TEST(PixelMedians, are_those_of_sorted_values_for_any_number_of_values) {
    constexpr std::size_t pixels = PixelMedians::pixels, stride = pixels + 3;
    std::mt19937 random(1);
    std::uniform_int_distribution<int> some(-9, 9); // with many equal values
    PixelMedians medians;
    for (std::size_t count = 1; count <= 70; ++count) {
        std::vector<float> values(count * stride);
        for (float& value : values)
            value = static_cast<float>(some(random)) / 4;
        std::vector<float> found(pixels);
        medians.find(values.data(), count, stride, found.data());
        for (std::size_t k = 0; k < pixels; ++k) {
            std::vector<float> of_pixel;
            for (std::size_t i = 0; i < count; ++i)
                of_pixel.push_back(values[i * stride + k]);
            EXPECT_EQ(found[k], sorted_middle(of_pixel)) << count << " values, pixel " << k;
            EXPECT_EQ(found[k], middle_of(of_pixel));
        }
    }
}

TEST(PixelMedians, of_zeros_of_both_signs_are_positive) {
    constexpr std::size_t pixels = PixelMedians::pixels;
    for (const std::size_t count : {1, 3, 4, 65}) {
        const std::vector<float> values(count * pixels, -0.F);
        PixelMedians medians;
        std::vector<float> found(pixels), of_pixel(count, -0.F);
        medians.find(values.data(), count, pixels, found.data());
        EXPECT_FALSE(std::signbit(found.front()));
        EXPECT_FALSE(std::signbit(middle_of(of_pixel)));
    }
}

} // namespace
} // namespace sextant::test
