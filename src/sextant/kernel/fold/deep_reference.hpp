// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/deep_image.hpp"

#include <span>
#include <vector>

namespace sextant::kernel {

/// What several deep images show together, to be read: all fragments of a pixel, in the order of
/// the images, sorted by depth (those of one depth keep their order) and blended from the front.
///
/// Requires  images of one shape (std::logic_error), at least one.
std::vector<RgbaF32> blend_sorted(std::span<const DeepImage> images);

} // namespace sextant::kernel
