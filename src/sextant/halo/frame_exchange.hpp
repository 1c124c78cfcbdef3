// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"

#include <array>

namespace sextant::halo {

/// What a tile's margin holds of the image, in four bands: those above and below are as wide as the
/// tile with its margin, those to the left and right as high as the tile.
using Frame = std::array<Tile, 4>;
Frame frame_of(const Grid& grid, int rank);

/// Halo exchange that leaves the tile where it lies: what belongs around it comes into a buffer of
/// its own.
///
/// Input     the tile, row by row.
/// Output    the bands of the frame one after another, each row by row.
/// Cost      as `exchange`; memory grows with the border, not with the tile.
Program frame_exchange(const Grid& grid, int rank);

} // namespace sextant::halo
