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

/// Planes of several images and of their composition. Plain data, because it is passed to code that
/// is compiled once per instruction set.
struct NearestPlanes {
    const std::uint32_t* const* colors; ///< null if there are no colours
    const float* const* depths;
    std::size_t images;
    std::uint32_t* color; ///< null if there are no colours
    float* depth;         ///< may be null
    std::uint32_t background;
    bool stream; ///< write the result past the caches
};

/// Keeps the pixel of least depth: of equal depths the first that is not transparent, else the
/// first. Where no depth is less than 1, the result is the background and depth 1.
void keep_nearest(const NearestPlanes& planes, Elements count);

} // namespace sextant::icet
