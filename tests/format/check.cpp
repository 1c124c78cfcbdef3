// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/checks.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using format::check_pixels;
using format::PixelCheck;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

PixelCheck check(RgbaF32 pixel) {
    return check_pixels(std::vector<RgbaF32>{{}, pixel, {0, 0.5F, 1, 1}});
}

PixelCheck check_deep(RgbaDepthF32 pixel) {
    return check_pixels(std::vector<RgbaDepthF32>{pixel});
}

TEST(CheckPixels, accepts_premultiplied_pixels) {
    EXPECT_TRUE(check({0.5F, 0.25F, 0, 0.5F}).good());
    EXPECT_TRUE(check({0.502F, 0, 0, 0.5F}).good()) << "rounded in 8 bits";
    EXPECT_TRUE(check_pixels(std::span<const RgbaF32>()).good());
    EXPECT_TRUE(check_deep({0, 0, 0, 0, infinity}).good());
}

TEST(CheckPixels, counts_colours_that_exceed_their_opacity) {
    const PixelCheck one{0, 1};
    EXPECT_EQ(check({0.6F, 0, 0, 0.5F}), one);
    EXPECT_EQ(check({0, 0.01F, 0, 0}), one);
    EXPECT_EQ(check({0, 0, infinity, 1}), one);
    EXPECT_EQ(check({0, 0, -0.1F, 1}), one);
    EXPECT_EQ(check({0, 0, 0, -0.1F}), one);
    EXPECT_EQ(check({0, 0, 0, 1.1F}), one);
    EXPECT_EQ(check_deep({1, 1, 1, 0.9F, 3}), one);
}

TEST(CheckPixels, counts_NaN_in_any_channel) {
    const PixelCheck one{1, 0};
    EXPECT_EQ(check({nan, 0, 0, 1}), one);
    EXPECT_EQ(check({0, nan, 0, 1}), one);
    EXPECT_EQ(check({0, 0, nan, 1}), one);
    EXPECT_EQ(check({0, 0, 0, nan}), one);
    EXPECT_EQ(check_deep({0, 0, 0, 0, nan}), one);
    EXPECT_EQ(check({nan, 2, 0, 1}), (PixelCheck{1, 1}));
}

TEST(CheckPixels, accepts_only_colour_images) {
    Image image({3, 2}, rgba_depth_f32);
    image.pixels<RgbaDepthF32>()[5].depth = nan;
    EXPECT_EQ(check_pixels(image), (PixelCheck{1, 0}));
    EXPECT_TRUE(check_pixels(Image({3, 2}, rgba_f32)).good());
    EXPECT_THROW(check_pixels(Image({3, 2}, ElementFormat{"labels", 4})), std::logic_error);
}

} // namespace
} // namespace sextant::test
