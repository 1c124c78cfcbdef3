// SPDX-License-Identifier: BSD-3-Clause
// Half-precision conversion, compared with OpenEXR's.
#include "sextant/core/element.hpp"

#include <bit>
#include <cmath>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>
#include <half.h>

namespace sextant {
namespace {

TEST(Half, converts_to_the_reference_float_for_all_65536_values) {
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const float expected = imath_half_to_float(half.bits);
        if (std::isnan(expected))
            ASSERT_TRUE(std::isnan(to_float(half))) << bits;
        else
            ASSERT_EQ(std::bit_cast<std::uint32_t>(to_float(half)),
                      std::bit_cast<std::uint32_t>(expected))
                << bits;
    }
}

TEST(Half, survives_a_round_trip_through_float_except_for_NaN_payloads) {
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const Half back = to_half(to_float(half));
        ASSERT_EQ(back.bits, std::isnan(to_float(half)) ? 0x7e00 : half.bits);
    }
}

void expect_nearest(float value) {
    if (!std::isnan(value)) {
        ASSERT_EQ(to_half(value).bits, imath_float_to_half(value)) << value;
    }
}

TEST(Half, rounds_floats_to_nearest_around_every_tie) {
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        const float half = to_float({static_cast<std::uint16_t>(bits)});
        const float next =
            bits == 0x7bff ? 65536 : to_float({static_cast<std::uint16_t>(bits + 1)});
        const float tie = half + (next - half) / 2;
        for (float value : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e9f)}) {
            expect_nearest(value);
            expect_nearest(-value);
        }
    }
    test::Random random(19);
    for (int i = 0; i < 200000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random.between(0, 0xffffffff));
        expect_nearest(std::bit_cast<float>(bits));
    }
}

} // namespace
} // namespace sextant
