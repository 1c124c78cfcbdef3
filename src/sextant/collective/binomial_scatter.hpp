// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Binomial scatter from rank 0: a rank that holds the tiles of ranks [r, r + m) gives the upper
/// half away, then half of what is left, until it holds its own. What it holds lies packed, so
/// that halves are contiguous while they are whole rows of tiles.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`.
/// Cost      ⌈log2 p⌉ rounds; rank 0 sends ⌈log2 p⌉ messages and moves all but its own tile.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206; the
///           spanning binomial tree of Seinstra and Koelma, TPDS 13(7), 2002
Program binomial_scatter(const Grid& grid, int rank);

/// Of values in a row: part `rank` of `ranks`.
inline Program binomial_scatter(int ranks, Elements elements, int rank) {
    return binomial_scatter(strips(ranks, elements), rank);
}

} // namespace sextant::collective
