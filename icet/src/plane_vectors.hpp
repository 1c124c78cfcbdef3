// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>

// Loops over planes of RGBA bytes and depths, in vectors.
namespace sextant::icet {

/// Interleaves colours and depths; pixels with a depth of 1 or more become empty.
void interleave(const std::uint32_t* colors, const float* depths, Elements count,
                RgbaU8DepthF32* to);

/// The reverse of interleave(); empty pixels get the background and depth 1. `depths` may be null.
void deinterleave(const RgbaU8DepthF32* from, Elements count, std::uint32_t background,
                  std::uint32_t* colors, float* depths);

/// Planes of several images and of their composition. Plain data, because this struct is passed to
/// code that is compiled once per instruction set.
struct NearestPlanes {
    const std::uint32_t* const* colors; ///< null if there are no colours
    const float* const* depths;
    std::size_t images;
    std::uint32_t* color; ///< null if there are no colours
    float* depth;         ///< may be null
    std::uint32_t background;
    bool stream; ///< write the result with non-temporal stores
};

/// Keeps the pixel with the smallest depth. At equal depths, keeps the first one that is not
/// transparent, otherwise the first one. If no depth is less than 1, the result is the background
/// and depth 1.
void keep_nearest(const NearestPlanes& planes, Elements count);

} // namespace sextant::icet
