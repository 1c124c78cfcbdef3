// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"
#include "sextant/schedule/prove.hpp"

namespace sextant::halo {

/// From tiles of one grid to tiles of another, with the pixels around them: each rank sends every
/// other what it has of what the other needs. Between filters on different tiles, and between
/// windows of which the next is lower than the last.
///
/// Input     buffer 0: the tile of `from`, row by row, whose image is all that is at hand of `to`.
/// Output    buffer 1: the tile of `to` with its margins, clipped to what is at hand
///           (clipped_tile), row by row.
/// Requires  one size of both images (InvalidTask). Grids of different numbers of ranks: the larger
///           number take part, those that a grid lacks have none of its tiles.
/// Cost      a message to each rank whose new tile has something of the old one.
Program redistribution(const sextant::Grid& from, const Grid& to, int rank);

/// Everyone begins with its tile of `from`, and ends with that of `to` and the pixels around it.
Claim redistribution_claim(const sextant::Grid& from, const Grid& to);

} // namespace sextant::halo
