// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sextant {
namespace {

template <class Pixel>
std::span<std::byte> bytes_of(std::vector<Pixel>& pixels) {
    return std::as_writable_bytes(std::span(pixels));
}

TEST(Background, shows_through_transparent_pixels) {
    std::vector<RgbaF32> picture = {{1, 0, 0, 1}, {0, 0, 0, 0}, {0.25f, 0, 0, 0.5f}}, to(3);
    kernel::put_behind(rgba_f32, bytes_of(picture), {0, 0.5f, 0, 1}, bytes_of(to));
    EXPECT_EQ(to[0], (RgbaF32{1, 0, 0, 1}));
    EXPECT_EQ(to[1], (RgbaF32{0, 0.5f, 0, 1}));
    EXPECT_EQ(to[2], (RgbaF32{0.25f, 0.25f, 0, 1}));
}

TEST(Background, keeps_the_depth_and_may_work_in_place) {
    std::vector<RgbaDepthF32> picture = {{0, 0, 0, 0, 7}, {1, 0, 0, 1, -2}};
    kernel::put_behind(rgba_depth_f32, bytes_of(picture), {0, 0, 1, 1}, bytes_of(picture));
    EXPECT_EQ(picture[0], (RgbaDepthF32{0, 0, 1, 1, 7}));
    EXPECT_EQ(picture[1], (RgbaDepthF32{1, 0, 0, 1, -2}));
}

TEST(Background, is_rounded_only_once_in_halves_and_bytes) {
    std::vector<RgbaU8> bytes = {{0, 0, 0, 0}, {100, 0, 0, 127}, {9, 8, 7, 255}};
    kernel::put_behind(rgba_u8, bytes_of(bytes), {0.5f, 0, 1, 1}, bytes_of(bytes));
    EXPECT_EQ(bytes[0], (RgbaU8{128, 0, 255, 255}));
    EXPECT_EQ(bytes[1], (RgbaU8{164, 0, 128, 255}));
    EXPECT_EQ(bytes[2], (RgbaU8{9, 8, 7, 255}));
    std::vector<RgbaF16> halves = {{to_half(0.25f), {}, {}, to_half(0.5f)}};
    kernel::put_behind(rgba_f16, bytes_of(halves), {0, 0, 1, 1}, bytes_of(halves));
    EXPECT_EQ(halves[0], (RgbaF16{to_half(0.25f), {}, to_half(0.5f), to_half(1)}));
    std::vector<RgbaU8DepthF32> deep = {{0, 0, 0, 0, 7}};
    kernel::put_behind(rgba_u8_depth_f32, bytes_of(deep), {1, 0, 0, 1}, bytes_of(deep));
    EXPECT_EQ(deep[0], (RgbaU8DepthF32{255, 0, 0, 255, 7}));
}

TEST(Background, accepts_empty_images_and_requires_colours) {
    std::vector<RgbaF32> none;
    kernel::put_behind(rgba_f32, bytes_of(none), {}, bytes_of(none));
    EXPECT_THROW(kernel::put_behind({"counts", 8}, bytes_of(none), {}, bytes_of(none)),
                 std::logic_error);
}

} // namespace
} // namespace sextant
