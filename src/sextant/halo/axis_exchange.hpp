// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"

namespace sextant::halo {

/// Halo exchange in four steps, one after another: to the right, to the left, upward, downward.
/// Strips that go up and down take along what came from the sides, so corners need no messages of
/// their own, and with margins towards neighbours only they are contiguous.
///
/// Input     the tile with its margins, clipped to the image (clipped_tile), row by row; only the
///           tile defined.
/// Output    the same buffer, with the neighbours' pixels in the margins.
/// Cost      at most 4 messages a rank, of which at most 2 at once (window 1); more where a margin
///           is wider than a neighbour's tile.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
Program axis_exchange(const Grid& grid, int rank);

} // namespace sextant::halo
