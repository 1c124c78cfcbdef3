// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
std::vector<T> stored(Sample sample, std::vector<float> values) {
    std::vector<T> result(values.size());
    from_floats(sample, values, std::as_writable_bytes(std::span(result)));
    return result;
}

TEST(Sample, has_a_unique_name_and_a_size) {
    for (const Sample sample :
         {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32, Sample::u64,
          Sample::i64, Sample::f16, Sample::f32, Sample::f64}) {
        EXPECT_EQ(sample_named(name(sample)), sample);
        EXPECT_EQ(std::to_string(8 * size_of(sample)), name(sample).substr(1));
    }
    EXPECT_FALSE(sample_named("u12"));
}

TEST(Sample, is_rounded_to_nearest_and_clamped_without_wrapping) {
    const std::vector<float> values{-infinity, -1, -0.4F, 0.5F, 1.5F, 254.6F, 300, infinity, NAN};
    EXPECT_EQ(stored<std::uint8_t>(Sample::u8, values),
              (std::vector<std::uint8_t>{0, 0, 0, 0, 2, 255, 255, 255, 0}));
    EXPECT_EQ(stored<std::int8_t>(Sample::i8, {-200, -128, 127.4F, 127.5F}),
              (std::vector<std::int8_t>{-128, -128, 127, 127}));
    EXPECT_EQ(stored<std::int32_t>(Sample::i32, {0x1p31F, -0x1p31F, -0x1p40F}),
              (std::vector<std::int32_t>{0x7fffffff, -0x7fffffff - 1, -0x7fffffff - 1}));
    EXPECT_EQ(stored<std::uint64_t>(Sample::u64, {0x1p64F, 0x1p63F, -1}),
              (std::vector<std::uint64_t>{~std::uint64_t{0}, std::uint64_t{1} << 63, 0}));
    EXPECT_EQ(stored<std::int64_t>(Sample::i64, {0x1p63F, -0x1p63F}),
              (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min()}));
}

TEST(Sample, is_converted_to_float_exactly_if_representable) {
    const std::vector<float> values{0, 1, 17, 100, 127};
    for (const Sample sample :
         {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32, Sample::u64,
          Sample::i64, Sample::f16, Sample::f32, Sample::f64}) {
        std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(size_of(sample)));
        std::vector<float> back(values.size());
        from_floats(sample, values, bytes);
        swap_bytes(sample, bytes);
        swap_bytes(sample, bytes);
        to_floats(sample, bytes, back);
        EXPECT_EQ(back, values) << name(sample);
    }
}

TEST(Sample, is_byte_swapped_if_stored_in_the_other_byte_order) {
    std::vector<std::uint32_t> values{0x01020304, 0xa0b0c0d0};
    swap_bytes(Sample::u32, std::as_writable_bytes(std::span(values)));
    EXPECT_EQ(values, (std::vector<std::uint32_t>{0x04030201, 0xd0c0b0a0}));
}

TEST(Sample, is_converted_only_between_buffers_of_equal_length) {
    std::vector<std::byte> bytes(7);
    std::vector<float> floats(2);
    EXPECT_THROW(to_floats(Sample::f32, bytes, floats), std::logic_error);
    EXPECT_THROW(from_floats(Sample::f32, floats, bytes), std::logic_error);
}

} // namespace
} // namespace sextant::test
