// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/merging.hpp"

#include <memory>

namespace sextant::contour {

/// How long the border of a run of tiles is, in pixels, without that of the image.
Elements border_length(const Order& order, Run run);

/// How many pixels of a run of tiles may touch pixels outside of it, at a side or a corner.
/// Cost      O(ranks).
Elements most_on_border(const Order& order, Run run);

/// Sizes of lists in crossings, for models: `entering` contours come in at each pixel of border (of
/// lines that all pixels lie on, half of those on each side).
ListSizes sizes_by_border(std::shared_ptr<const Order> order, double entering);

} // namespace sextant::contour
