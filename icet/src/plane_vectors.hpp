// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>

// Loops over planes of RGBA bytes and depths, in vectors.
namespace sextant::icet {

/// Interleaves colours and depths; pixels whose depth is not less than 1 become empty.
void interleave(const std::uint32_t* colors, const float* depths, Elements count,
                RgbaU8DepthF32* to);

/// The reverse; empty pixels get the background and depth 1. `depths` may be null.
void deinterleave(const RgbaU8DepthF32* from, Elements count, std::uint32_t background,
                  std::uint32_t* colors, float* depths);

} // namespace sextant::icet
