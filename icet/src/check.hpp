// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tile_compositor.hpp"

namespace sextant::icet {

/// Composites the images of all ranks again, pixel by pixel with plain loops, and compares the
/// result. The nearest pixels must be the same; blended colours may differ by half a level (bytes)
/// or 1e-5 per rank, for rounding. At the first difference, prints the difference and ends the
/// process.
///
/// Input     the images that this rank has drawn; the frame, whose result has the pixels of
///           `piece`.
/// Collective.
/// Cost      gathers all images on every rank.
void check_frame(const Context& context, const TileTask& task, const DrawnPart& drawn,
                 const TileFrame& frame, const TilePiece& piece);

} // namespace sextant::icet
