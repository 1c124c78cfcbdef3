// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/image.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

DeepImage with_depths(const std::vector<float>& depths) {
    DeepImage image{{2, 2}, {0, 0, 0, static_cast<Elements>(depths.size()), 0}, {}};
    image.first[4] = image.first[3];
    for (const float depth : depths)
        image.fragments.push_back({0, 0, 0, 1, depth});
    return image;
}

TEST(DeepImages, are_valid_with_equal_and_infinite_depths) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(fault_of(empty_deep_image({3, 5})), "");
    EXPECT_EQ(fault_of(empty_deep_image({0, 0})), "");
    EXPECT_EQ(fault_of(with_depths({-infinity, 1, 1, infinity})), "");
}

TEST(DeepImages, report_the_pixel_and_value_of_an_error) {
    EXPECT_EQ(fault_of(with_depths({1, 3, 2})),
              "pixel (0, 1): fragment 2 at depth 2 comes after one at 3, expected nearest first");
    EXPECT_EQ(fault_of(with_depths({std::numeric_limits<float>::quiet_NaN()})),
              "pixel (0, 1): the depth of fragment 0 is NaN");
    DeepImage image = with_depths({1, 2});
    image.first[1] = 1;
    EXPECT_EQ(fault_of(image), "has fragment offsets that do not ascend from 0 to 2");
    image.first.pop_back();
    EXPECT_EQ(fault_of(image), "has 4 fragment offsets, expected 5");
}

} // namespace
} // namespace sextant::test
