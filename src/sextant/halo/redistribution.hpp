// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"
#include "sextant/schedule/prove.hpp"

namespace sextant::halo {

/// Redistributes an image or a volume from the tiles of one grid to the tiles, with margins, of
/// another grid: each rank sends every other rank the pixels that the other needs. Used between
/// filters on different tilings, and between windows of different height or depth.
///
/// Input     buffer 0: the tile of `from`, row by row; the image of `from` is the available part of
///           `to`.
/// Output    buffer 1: the tile of `to` with its margins, clipped to the available image
///           (clipped_tile), row by row.
/// Requires  images of the same size (InvalidTask). If the grids have different numbers of ranks,
///           the larger number takes part; extra ranks have no tile of the other grid.
/// Cost      a message to each rank whose new tile overlaps the old one.
Program redistribution(const sextant::Grid& from, const Grid& to, int rank);

/// The claim to prove: each rank starts with its tile of `from` and ends with its tile of `to` with
/// margins.
Claim redistribution_claim(const sextant::Grid& from, const Grid& to);

} // namespace sextant::halo
