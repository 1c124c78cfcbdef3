// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "context.hpp"
#include "planes.hpp"

namespace sextant::icet {

/// Blends the images of all ranks one after another by plain loops, and compares the composited
/// image. The nearest pixels must be the same; blended colours may differ by half a level (bytes)
/// or 1e-5 per rank, for rounding. At the first difference, prints it and ends the process.
/// Collective.
/// Cost      gathers all images on every rank.
void check_frame(const Context& context, const TileImage& tile, const Composition& composition,
                 std::span<const int> order, const sextant::Frame& frame);

} // namespace sextant::icet
