// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant::collective {

// The all-to-all of images: strips of whole rows, one per rank, become strips of whole columns.
// Block (i, j), the pixels of row strip i in column strip j, goes from rank i to rank j. Blocks
// differ in size by at most a row and a column, and may be empty. For an image with one row per
// rank this is an ordinary all-to-all of values. Blocks of any lengths (Partition::pairs) take the
// same routes.

/// A set of blocks: those from each rank of `from` to each rank of `to`, both in ascending order.
struct Blocks {
    std::vector<int> from, to;

    bool operator==(const Blocks&) const = default;
};

/// Rank numbers 0 … ranks − 1.
std::vector<int> all_ranks(int ranks);
/// The blocks that a rank starts with (blocks_at_first) and ends with (blocks_at_last).
Blocks blocks_at_first(const Grid& grid, int rank);
Blocks blocks_at_last(const Grid& grid, int rank);

/// Elements first … last, which are consecutive in both of two lists.
struct Run {
    int first, last;
};

/// The maximal runs of elements that two ascending lists have in common.
std::vector<Run> common_runs(std::span<const int> a, std::span<const int> b);

/// Blocks packed row by row as a smaller image of row strips `from` and column strips `to`. Blocks
/// of any lengths (Partition::pairs) are packed one after another; those from one rank are in the
/// order of `to`.
class PackedBlocks {
  public:
    PackedBlocks(const Partition& data, Blocks blocks);

    const Blocks& blocks() const { return blocks_; }
    Elements elements() const;
    /// The regions of the blocks that each run of row strips shares with each run of column strips,
    /// in that order. Blocks of any lengths have separate regions for each row strip.
    std::vector<Region> regions(std::span<const Run> from, std::span<const Run> to,
                                int buffer) const;

  private:
    std::vector<Region> regions_of_rows(std::span<const Run> from, std::span<const Run> to,
                                        int buffer) const;

    Blocks blocks_;
    /// For an image: the starts of its strips, and the end of the last one.
    std::vector<Elements> row_starts_, column_starts_;
    /// For blocks of any lengths: their starts, row by row, and the end of the last one.
    std::vector<Elements> starts_;
};

/// A plan for routing the blocks of an all-to-all through supersteps, combined into long messages.
struct Route {
    int supersteps = 0;
    /// The blocks that a rank holds after this many supersteps: blocks_at_first at the start,
    /// blocks_at_last at the end. No two ranks hold the same block.
    std::function<Blocks(int supersteps, int rank)> held;
    /// The submachine in which a rank exchanges messages in a superstep (counted from 0).
    std::function<Submachine(int superstep, int rank)> submachine;
    /// The ranks that a rank may exchange messages with in a superstep; may include the rank
    /// itself.
    std::function<std::vector<int>(int superstep, int rank)> partners;
};

/// One rank's program for a route. In each superstep the rank sends every partner the blocks that
/// the partner holds next, keeps those that it holds next itself, and packs its blocks again.
///
/// Input     row strip `rank` of the image.
/// Output    column strip `rank`, row by row.
/// Cost      one message per partner and superstep; blocks that stay are copied once per superstep.
Program routed_all_to_all(const Partition& data, const Route& route, int rank);

/// The one-level all-to-alls: every block is sent directly to its destination. 1-lev-dir sends all
/// blocks at once, starting with the next rank. 1-lev-perm sends one permutation after another: in
/// round i, a rank sends to rank + i + 1 (linear), or to rank XOR (i + 1), so that partners
/// exchange blocks and some ranks are idle if p is not a power of two. Permutations have a window
/// of one round.
///
/// Input     row strip `rank` of the image.
/// Output    column strip `rank`, row by row.
/// Cost      p − 1 messages per rank, of one block each.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program direct_all_to_all(const Partition& data, int rank);
Program linear_all_to_all(const Partition& data, int rank);
Program exclusive_or_all_to_all(const Partition& data, int rank);

/// 2-lev-c,r: first each processor sends one message to each row, within its column of processors,
/// with all blocks for that row. Then each processor sends the blocks collected from its column to
/// their destinations within its row.
///
/// Input     row strip `rank` of the image.
/// Output    column strip `rank`, row by row.
/// Cost      rows − 1 and columns − 1 messages per rank; every block is sent twice.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program columns_rows_all_to_all(const Partition& data, int rank);

/// 2-lev-sq: the machine is cut into about √p squares. Within each, blocks for square l go to
/// member l; member l of square j sends them to member j of square l; and within the squares each
/// block goes to its processor. If there are more squares than members, a member serves several
/// squares and sends one message for each in the second step; if there are fewer, some members
/// serve none. The scheme therefore works on any grid.
///
/// Input     row strip `rank` of the image.
/// Output    column strip `rank`, row by row.
/// Cost      three supersteps; 2 (√p − 1) + 1 messages per rank with √p squares of √p members;
///           every block is sent at most three times.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program squares_all_to_all(const Partition& data, int rank);

/// logp-lev-bfly: the machine is halved along its longer side; each processor sends the blocks for
/// the other half to the processor at the corresponding position there, and the halves continue
/// independently. If the halves differ in size, the last column or row of the larger one sends to
/// the first of the smaller.
///
/// Input     row strip `rank` of the image.
/// Output    column strip `rank`, row by row.
/// Cost      ⌈log2 columns⌉ + ⌈log2 rows⌉ supersteps of one message per rank; for equal halves,
///           each message is half of the rank's data.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program butterfly_all_to_all(const Partition& data, int rank);

} // namespace sextant::collective
