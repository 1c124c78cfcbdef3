// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

// What a pixel is to an edge, in a byte: 0, or its class and in which sixteenth of a turn its
// gradient points. That is told by comparisons alone, so that it is the same on every processor,
// and it is all that the steps after the gradient need of it.
namespace sextant::kernel {

inline constexpr std::uint8_t not_edge = 0, weak_edge = 1, strong_edge = 2;
inline constexpr std::uint8_t edge_class_bits = 3;

inline constexpr std::uint8_t heading_left = 16;  ///< x < 0
inline constexpr std::uint8_t heading_up = 32;    ///< y < 0
inline constexpr std::uint8_t heading_flat = 64;  ///< |y| ≤ |x|
inline constexpr std::uint8_t heading_near = 128; ///< at most 22.5° from the axis that is nearer
inline constexpr float tangent_of_near = .41421356F;

constexpr unsigned edge_class(std::uint8_t code) {
    return code & edge_class_bits;
}

} // namespace sextant::kernel
