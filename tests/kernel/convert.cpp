// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant {
namespace {

template <class To, class From>
To converted(const ElementFormat& from, const From& pixel, const ElementFormat& to) {
    To result;
    kernel::convert(from, std::as_bytes(std::span(&pixel, 1)), to,
                    std::as_writable_bytes(std::span(&result, 1)));
    return result;
}

TEST(Convert, to_u8_rounds_to_the_nearest_step_and_clamps) {
    const RgbaF32 pixel{0.4f / 255, 0.6f / 255, -3, std::numeric_limits<float>::infinity()};
    EXPECT_EQ(converted<RgbaU8>(rgba_f32, pixel, rgba_u8), (RgbaU8{0, 1, 0, 255}));
    const RgbaF32 odd{std::nanf(""), 254.4f / 255, 254.6f / 255, 1};
    EXPECT_EQ(converted<RgbaU8>(rgba_f32, odd, rgba_u8), (RgbaU8{0, 254, 255, 255}));
}

TEST(Convert, from_u8_and_back_is_exact_and_gives_the_nearest_float) {
    for (int level = 0; level < 256; ++level) {
        const auto byte = static_cast<std::uint8_t>(level);
        const RgbaU8 pixel{byte, byte, 7, byte};
        const auto wide = converted<RgbaF32>(rgba_u8, pixel, rgba_f32);
        EXPECT_EQ(wide.r, static_cast<float>(level / 255.0));
        EXPECT_EQ(converted<RgbaU8>(rgba_f32, wide, rgba_u8), pixel);
    }
}

TEST(Convert, to_f16_rounds_and_from_f16_is_exact) {
    const RgbaF32 pixel{1 + 0x1p-11f, 1 + 0x1.8p-10f, 70000, 0.25f};
    const auto half = converted<RgbaF16>(rgba_f32, pixel, rgba_f16);
    EXPECT_EQ(converted<RgbaF32>(rgba_f16, half, rgba_f32),
              (RgbaF32{1, 1 + 0x1p-9f, std::numeric_limits<float>::infinity(), 0.25f}));
}

TEST(Convert, keeps_or_drops_a_depth_but_does_not_invent_one) {
    const RgbaDepthF32 pixel{1, 0, 0.2f, 1, 3.5f};
    EXPECT_EQ(converted<RgbaU8DepthF32>(rgba_depth_f32, pixel, rgba_u8_depth_f32),
              (RgbaU8DepthF32{255, 0, 51, 255, 3.5f}));
    EXPECT_EQ(converted<RgbaF32>(rgba_depth_f32, pixel, rgba_f32), (RgbaF32{1, 0, 0.2f, 1}));
    EXPECT_THROW(converted<RgbaDepthF32>(rgba_f32, RgbaF32{}, rgba_depth_f32), std::logic_error);
}

} // namespace
} // namespace sextant
