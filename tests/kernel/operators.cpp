// SPDX-License-Identifier: BSD-3-Clause
// Operators on single pixels.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/kernel/kinds.hpp"

namespace sextant::test {
namespace {

/// Pixels that all differ in colour.
std::vector<RgbaDepthF32> samples() {
    std::vector<RgbaDepthF32> all;
    for (float depth : {1.0f, 1.0f, 2.0f, -0.0f, 0.0f, -infinity, infinity, infinity, not_a_number,
                        -not_a_number}) {
        for (float a : {1.0f, 0.0f, not_a_number})
            all.push_back({static_cast<float>(all.size()), 0, 0, a, depth});
    }
    return all;
}

/// The number (1 or 2) of the pixel that `nearest` returns, stored in its red channel.
float winner(float first_depth, float second_depth, float first_a = 1, float second_a = 1) {
    const RgbaDepthF32 first{1, 0, 0, first_a, first_depth},
        second{2, 0, 0, second_a, second_depth};
    return kernel::nearest(first, second).r;
}

TEST(NearestSample, prefers_the_nearer_sample_then_the_first_and_NaN_only_if_both_are_NaN) {
    EXPECT_EQ(winner(5, 4), 2);
    EXPECT_EQ(winner(4, 5), 1);
    EXPECT_EQ(winner(4, 4), 1);
    EXPECT_EQ(winner(+0.0f, -0.0f), 1);
    EXPECT_EQ(winner(not_a_number, infinity), 2);
    EXPECT_EQ(winner(infinity, not_a_number), 1);
    EXPECT_EQ(winner(not_a_number, not_a_number), 1);
}

TEST(NearestSample, hides_nothing_if_it_is_transparent_and_infinitely_far) {
    EXPECT_EQ(winner(infinity, infinity, 0, 1), 2);
    EXPECT_EQ(winner(infinity, infinity, 1, 0), 1);
    EXPECT_EQ(winner(infinity, infinity, 0, 0), 1);
    EXPECT_EQ(winner(4, 5, 0, 1), 1) << "a nearer pixel hides others even if it is transparent";
}

TEST(NearestSample, is_associative_with_ties_infinities_NaN_and_transparency) {
    for (const auto& a : samples()) {
        for (const auto& b : samples()) {
            for (const auto& c : samples()) {
                const auto left = kernel::nearest(kernel::nearest(a, b), c);
                const auto right = kernel::nearest(a, kernel::nearest(b, c));
                ASSERT_EQ(left.r, right.r) << a.depth << ", " << b.depth << ", " << c.depth;
            }
        }
    }
}

TEST(OverPixel, an_opaque_front_hides_the_back_and_a_transparent_front_shows_it) {
    const RgbaF32 red{1, 0, 0, 1}, half{0, 0.25f, 0, 0.5f}, clear{};
    EXPECT_EQ(kernel::over(red, half), red);
    EXPECT_EQ(kernel::over(clear, half), half);
    EXPECT_EQ(kernel::over(half, red), (RgbaF32{0.5f, 0.25f, 0, 1}));
}

/// Folds layers of one pixel.
template <class Pixel>
Pixel folded(const char* name, const std::vector<Pixel>& layers) {
    std::vector<const std::byte*> sources;
    for (const Pixel& layer : layers)
        sources.push_back(reinterpret_cast<const std::byte*>(&layer));
    Pixel sum;
    kernel::find(name, Pixels<Pixel>::element).fold(sources, reinterpret_cast<std::byte*>(&sum), 1);
    return sum;
}

TEST(OverPixel, reversing_opaque_layers_gives_exactly_the_other_colour) {
    for (int k = 2; k <= 9; ++k) {
        std::vector<RgbaF32> layers;
        for (int i = 0; i < k; ++i)
            layers.push_back({static_cast<float>(i) / 16, 0, 0, 1});
        EXPECT_EQ(folded("over", layers), layers.front());
        std::reverse(layers.begin(), layers.end());
        EXPECT_EQ(folded("over", layers), layers.front());
    }
}

TEST(OverPixel, in_u8_is_the_rounded_exact_quotient_for_all_inputs) {
    const Operator& op = kernel::find("over", rgba_u8);
    std::vector<RgbaU8> front(256 * 256), back(256 * 256), sum(256 * 256);
    for (int f = 0; f < 256; ++f) {
        for (int i = 0; i < 256 * 256; ++i) {
            const auto level = [](int x) { return static_cast<std::uint8_t>(x); };
            const auto at = static_cast<std::size_t>(i);
            front[at] = {level(f), level(0), level(255 - f), level(i / 256)};
            back[at] = {level(i % 256), level(i % 256), level(i % 256), level(i % 256)};
        }
        op.fold(std::vector<const std::byte*>{bytes_of(front), bytes_of(back)}, bytes_of(sum),
                256 * 256);
        for (int i = 0; i < 256 * 256; ++i) {
            const int a = i / 256, b = i % 256;
            const int seen = (2 * (255 - a) * b + 255) / (2 * 255);
            const RgbaU8& got = sum[static_cast<std::size_t>(i)];
            ASSERT_EQ(got.r, std::min(255, f + seen)) << f << " " << a << " " << b;
            ASSERT_EQ(got.g, seen);
            ASSERT_EQ(got.b, std::min(255, 255 - f + seen));
            ASSERT_EQ(got.a, a + seen);
        }
    }
}

TEST(OverPixel, of_many_layers_in_u8_or_f16_is_rounded_only_once) {
    // Each pixel is seen through the previous one, which halves its contribution.
    const std::vector<RgbaU8> faint(8, {1, 1, 1, 128});
    EXPECT_EQ(folded("over", faint), (RgbaU8{2, 2, 2, 254}));
    std::vector<RgbaF16> halves(9, kernel::Wide<RgbaF16>::narrow({0x1p-11f, 0, 0, 0}));
    halves[0] = kernel::Wide<RgbaF16>::narrow({1, 0, 0, 0});
    EXPECT_EQ(to_float(folded("over", halves).r), 1 + 0x1p-8f)
        << "rounding after each pixel would lose it";
}

TEST(AddedPixels, saturate_in_u8_and_overflow_to_infinity_in_f16) {
    const std::vector<RgbaU8> light(3, {100, 1, 85, 255});
    EXPECT_EQ(folded("add", light), (RgbaU8{255, 3, 255, 255}));
    const Half large = to_half(40000);
    const std::vector<RgbaF16> lights(2, {large, large, large, large});
    EXPECT_EQ(to_float(folded("add", lights).g), infinity);
}

TEST(MaxChannel, is_the_larger_value_in_either_order) {
    const auto max_both_ways = [](float a, float b) {
        const float forward = kernel::max(a, b), backward = kernel::max(b, a);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(forward), std::bit_cast<std::uint32_t>(backward));
        return forward;
    };
    EXPECT_EQ(max_both_ways(1, 2), 2);
    EXPECT_EQ(max_both_ways(-infinity, -1), -1);
    EXPECT_EQ(max_both_ways(not_a_number, -infinity), -infinity);
    EXPECT_FALSE(std::signbit(max_both_ways(-0.0f, 0.0f)));
    EXPECT_TRUE(std::signbit(kernel::max(-0.0f, -0.0f)));
    EXPECT_TRUE(std::isnan(kernel::max(not_a_number, not_a_number)));
}

TEST(NotANumber, has_the_same_bits_whatever_its_origin) {
    const RgbaF32 odd{infinity, -infinity, -not_a_number, std::bit_cast<float>(0x7f800001u)};
    const RgbaF32 sum = folded("add", std::vector<RgbaF32>{odd, {-infinity, infinity, 0, 0}});
    for (float channel : {sum.r, sum.g, sum.b, sum.a})
        EXPECT_EQ(std::bit_cast<std::uint32_t>(channel), 0x7fc00000u);
}

} // namespace
} // namespace sextant::test
