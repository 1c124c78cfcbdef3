// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <span>
#include <vector>

namespace sextant::kernel {

/// A scene that blending whole images cannot show correctly in any order: translucent spherical
/// shells, nested and intersecting, assigned to ranks cyclically. On most rays, one rank's shell
/// has its front before and its back behind another rank's shell. Some shells coincide, so that
/// depths are equal.
struct Shells {
    ImageShape shape;
    int count = 12; ///< number of shells; each gives at most two fragments per ray
};

/// The deep image of the shells numbered part, part + parts, part + 2 parts ...
/// Throws    std::logic_error unless 0 <= part < parts.
/// Deterministic.
DeepImage draw_shells(const Shells& scene, int part, int parts);

/// Blends several deep images; a readable reference. All fragments of a pixel, in the order of the
/// images, are sorted by depth (stable) and blended front to back. Throws std::logic_error unless
/// there is at least one image and all have one shape.
std::vector<RgbaF32> blend_sorted(std::span<const DeepImage> images);

} // namespace sextant::kernel
