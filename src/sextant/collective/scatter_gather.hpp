// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// The binomial tree over ranks 0 ... p − 1. A rank is the root of ranks [rank, rank + reach),
/// where reach is its lowest set bit, or at least p for rank 0. Its parent is rank − reach; its
/// children are rank + d for every power of two d below reach, if that rank exists.
struct BinomialTree {
    int ranks;

    int reach(int rank) const;
    /// The number of levels whose messages travel farther than this distance.
    int level(int distance) const;
};

// All algorithms below also accept blocks of any lengths (Partition): read "block" for "tile", and
// "all blocks" for "image". Rank 0 is the root.

/// Flat-tree scatter: rank 0 sends every other rank its tile directly from the image. Tiles
/// narrower than the image are strided on rank 0 and contiguous elsewhere.
///
/// Input     on rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`; rank 0's tile stays in the image.
/// Cost      rank 0 sends p − 1 messages, all but its own tile.
/// Source    the one-level flat tree of Seinstra and Koelma, TPDS 13(7), 2002
Program flat_scatter(const Partition& data, int rank);

/// Binomial scatter from rank 0: a rank that holds the tiles of ranks [r, r + m) sends the upper
/// half to another rank, then half of the rest, until it holds only its own tile. Tiles are packed,
/// so that halves of whole rows of tiles are contiguous.
///
/// Input     on rank 0 the image, row by row; elsewhere nothing.
/// Output    tile `rank`.
/// Cost      ⌈log2 p⌉ rounds; rank 0 sends ⌈log2 p⌉ messages with all tiles but its own.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206; the
///           spanning binomial tree of Seinstra and Koelma, TPDS 13(7), 2002
Program binomial_scatter(const Partition& data, int rank);

/// Binomial scatter of a row of values: rank `rank` gets part `rank` of `ranks`.
inline Program binomial_scatter(int ranks, Elements elements, int rank) {
    return binomial_scatter(strips(ranks, elements), rank);
}

/// Flat-tree gather: every rank sends its tile to rank 0, which receives it directly in the image,
/// strided if tiles are narrower than the image.
///
/// Input     tile `rank`, row by row.
/// Output    on rank 0 the image; elsewhere nothing.
/// Cost      rank 0 receives p − 1 messages, all but its own tile.
/// Source    the one-level flat tree of Seinstra and Koelma, TPDS 13(7), 2002
Program flat_gather(const Partition& data, int rank);

/// Binomial gather to rank 0, the reverse of the scatter: a rank that holds the tiles of [r, r + m)
/// receives those of [r + m, r + 2m), until it holds its whole subtree and sends all these tiles
/// on. Tiles are packed: sent as one contiguous message, and received with strides within rows of
/// tiles.
///
/// Input     tile `rank`, row by row.
/// Output    on rank 0 the image; elsewhere nothing.
/// Cost      ⌈log2 p⌉ rounds; rank 0 receives ⌈log2 p⌉ messages with all tiles but its own.
/// Source    the same as binomial_scatter
Program binomial_gather(const Partition& data, int rank);

/// Direct all-gather: each rank sends its tile to all others at once, starting with the next rank.
///
/// Input     tile `rank`, row by row.
/// Output    the image; tiles narrower than the image are received with strides.
/// Cost      p − 1 messages per rank, of one tile each.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program direct_all_gather(const Partition& data, int rank);

/// Ring all-gather: in round 0 each rank sends its own tile to the next rank; in every later round
/// it sends the tile received in the previous round, until every rank has every tile.
///
/// Input     tile `rank`, row by row.
/// Output    the image; tiles narrower than the image are sent with strides.
/// Cost      p − 1 rounds of one message per rank, of one tile each: the minimum that each rank
///           must send and receive.
/// Source    the bucket algorithm of Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007,
///           doi:10.1002/cpe.1206
Program ring_all_gather(const Partition& data, int rank);

/// Broadcast of long data: a binomial scatter of equal parts (not of the grid's tiles), then a ring
/// all-gather of these parts.
///
/// Input     on rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
/// Cost      ⌈log2 p⌉ + p − 1 rounds; no rank sends or receives more than twice the image.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program scatter_all_gather_broadcast(const Partition& data, int rank);

} // namespace sextant::collective
