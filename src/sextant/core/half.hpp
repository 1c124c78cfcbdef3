// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace sextant {

/// A floating-point number of 16 bits, IEEE 754 binary16: 11 significant bits, 65504 at most.
struct Half {
    std::uint16_t bits = 0;
    bool operator==(const Half&) const = default; ///< of the bits
};

/// Exact.
constexpr float to_float(Half half) {
    const std::uint32_t sign = (half.bits & 0x8000u) << 16;
    const std::uint32_t magnitude = half.bits & 0x7fffu;
    if (magnitude < 0x0400) { // zero, or without the leading one: a count of the smallest steps
        const float steps = static_cast<float>(magnitude) * 0x1p-24f;
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(steps));
    }
    const std::uint32_t exponent = magnitude < 0x7c00 ? 127 - 15 : 255 - 31; // or infinity and NaN
    return std::bit_cast<float>(sign | ((exponent << 23) + (magnitude << 13)));
}

/// The nearest half, of two equally near ones the even. What is too large becomes infinite, NaN the
/// one NaN 0x7e00.
constexpr Half to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) { // NaN
        return {0x7e00};
    } else if (magnitude >= 0x47800000u) { // 2^16 and more
        half = 0x7c00;
    } else if (magnitude < 0x38800000u) { // below 2^-14: beside 0.5 a float's last bit is 2^-24
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    } else { // the carry of the rounding may run into the exponent, up to infinity
        half = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | half)};
}

} // namespace sextant
