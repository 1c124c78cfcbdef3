// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

#include <span>

namespace sextant::collective {

/// The binomial tree over ranks 0 ... p − 1 in which a rank heads the ranks [rank, rank + reach):
/// its lowest set bit, or everything for rank 0. The parent is rank − reach; the children are
/// rank + d for every power of two d below reach, as far as there are such ranks.
struct BinomialTree {
    int ranks;

    int reach(int rank) const;
    /// How many levels lie above messages over this distance, the longest first.
    int level(int distance) const;
};

/// Flat-tree scatter: rank 0 sends every other rank its tile, one after another, straight from the
/// image. Tiles narrower than the image are strided at rank 0 and contiguous elsewhere.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`; at rank 0 it stays in the image.
/// Cost      rank 0 sends p − 1 messages, all but its own tile.
/// Source    the one-level flat tree of Seinstra and Koelma, TPDS 13(7), 2002
Program flat_scatter(const Grid& grid, int rank);

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

/// Flat-tree gather: every rank sends its tile to rank 0, which receives it where it lies in the
/// image: in strides, where tiles are narrower than the image.
///
/// Input     tile `rank`, row by row.
/// Output    at rank 0 the image; elsewhere nothing.
/// Cost      rank 0 receives p − 1 messages, all but its own tile.
/// Source    the one-level flat tree of Seinstra and Koelma, TPDS 13(7), 2002
Program flat_gather(const Grid& grid, int rank);

/// Linear gather to rank 0: everyone sends what it has, and it lies there one after another, in
/// rank order. For what is small or comes late and uneven, such as traces.
///
/// Input     `counts[rank]` elements.
/// Output    at rank 0 all of them; elsewhere nothing.
/// Cost      one message a rank that has any; rank 0 receives p − 1.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program linear_gather(std::span<const Elements> counts, int rank);

/// Binomial gather to rank 0, the scatter backwards: a rank that holds the tiles of [r, r + m)
/// takes those of [r + m, r + 2m), until it heads no more and sends all on. What it holds lies
/// packed: it is sent as one contiguous message, and received into strides within rows of tiles.
///
/// Input     tile `rank`, row by row.
/// Output    at rank 0 the image; elsewhere nothing.
/// Cost      ⌈log2 p⌉ rounds; rank 0 receives ⌈log2 p⌉ messages, all but its own tile.
/// Source    as binomial_scatter
Program binomial_gather(const Grid& grid, int rank);

/// Direct all-gather: everyone sends its tile to everyone at once, beginning with the next rank.
///
/// Input     tile `rank`, row by row.
/// Output    the image; tiles narrower than it are received in strides.
/// Cost      p − 1 messages a rank, of one tile each.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program direct_all_gather(const Grid& grid, int rank);

/// Ring all-gather: in round i everyone gives the next rank the tile that came in the round before,
/// at first its own, until every tile has been everywhere.
///
/// Input     tile `rank`, row by row.
/// Output    the image; tiles narrower than it travel in strides.
/// Cost      p − 1 rounds of one message a rank, of one tile each: no rank sends or receives more
///           than it must.
/// Source    the bucket algorithm of Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007,
///           doi:10.1002/cpe.1206
Program ring_all_gather(const Grid& grid, int rank);

/// Broadcast of something long: a binomial scatter of equal parts, whatever the grid, and a ring
/// all-gather of them.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
/// Cost      ⌈log2 p⌉ + p − 1 rounds; no rank sends or receives more than twice the image.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program scatter_all_gather_broadcast(const Grid& grid, int rank);

} // namespace sextant::collective
