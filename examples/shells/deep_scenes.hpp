// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <span>
#include <vector>

namespace sextant::kernel {

/// A scene that no order of whole images can show rightly: translucent spherical shells, one within
/// another and through each other, dealt out to ranks in turn. On most rays the front and the back
/// of a rank's shells lie on both sides of others'. Some shells coincide, so that depths tie.
struct Shells {
    ImageShape shape;
    int count = 12; ///< a ray meets at most twice as many fragments
};

/// What the shells part, part + parts, part + 2 parts ... show.
/// Requires  0 <= part < parts (std::logic_error).
/// Deterministic.
DeepImage draw_shells(const Shells& scene, int part, int parts);

/// What several deep images show together, to be read: all fragments of a pixel, in the order of
/// the images, sorted by depth (those of one depth keep their order) and blended from the front.
///
/// Requires  images of one shape (std::logic_error), at least one.
std::vector<RgbaF32> blend_sorted(std::span<const DeepImage> images);

} // namespace sextant::kernel
