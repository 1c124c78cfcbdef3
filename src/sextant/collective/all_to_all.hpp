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

// The all-to-all of images: strips of whole rows, one a rank, become strips of whole columns. Block
// (i, j), the pixels of row strip i in column strip j, goes from rank i to rank j. Blocks differ in
// size by at most a row and a column, and may be empty. Where a row is so many values in as many
// rows as there are ranks, it is everyone's exchange of values with everyone.

/// The blocks that a rank has: from these ranks to those, both ascending.
struct Blocks {
    std::vector<int> from, to;

    bool operator==(const Blocks&) const = default;
};

/// Rank numbers 0 … ranks − 1.
std::vector<int> all_ranks(int ranks);
/// What a rank starts with, and what it ends with.
Blocks blocks_at_first(const Grid& grid, int rank);
Blocks blocks_at_last(const Grid& grid, int rank);

/// Ranks first … last that lie side by side in two lists.
struct Run {
    int first, last;
};

/// The runs of what two ascending lists have in common.
std::vector<Run> common_runs(std::span<const int> a, std::span<const int> b);

/// Blocks as they lie packed: a smaller image, row by row, of the rows `from` and the columns
/// `to`.
class PackedBlocks {
  public:
    PackedBlocks(const Grid& grid, Blocks blocks);

    const Blocks& blocks() const { return blocks_; }
    Elements elements() const { return row_starts_.back() * column_starts_.back(); }
    /// Where the blocks of each run of rows with each run of columns lie, in that order.
    std::vector<Region> regions(std::span<const Run> from, std::span<const Run> to,
                                int buffer) const;

  private:
    Blocks blocks_;
    std::vector<Elements> row_starts_, column_starts_; ///< of each strip, and the end
};

/// How the blocks of an all-to-all travel in supersteps, combined into long messages.
struct Route {
    int supersteps = 0;
    /// The blocks that a rank has after so many supersteps: at first as blocks_at_first, at last as
    /// blocks_at_last says, and never a block at two ranks.
    std::function<Blocks(int supersteps, int rank)> held;
    /// The submachine on which a rank exchanges in a superstep, from 0 on.
    std::function<Submachine(int superstep, int rank)> submachine;
    /// Those among whom it may find partners there; itself may be one of them.
    std::function<std::vector<int>(int superstep, int rank)> partners;
};

/// One rank's program along a route: in each superstep it sends every partner what the partner is
/// to have next, keeps what it is to have itself, and packs it together.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      a message a partner and superstep; what it keeps is copied once a superstep.
Program routed_all_to_all(const Grid& grid, const Route& route, int rank);

/// The one-level all-to-alls: every block goes straight to its rank. 1-lev-dir sends them all at
/// once, beginning with the next rank; 1-lev-perm one permutation after another: round i goes i + 1
/// ranks on (linear), or to the rank that differs by i + 1 (exclusive or: partners exchange, and
/// some ranks pause where their number is no power of two). Permutations have a window of one
/// round.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      p − 1 messages a rank, of one block each.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program direct_all_to_all(const Grid& grid, int rank);
Program linear_all_to_all(const Grid& grid, int rank);
Program exclusive_or_all_to_all(const Grid& grid, int rank);

/// 2-lev-c,r: first everyone sends, within its column of processors, each row of them what is for
/// that row, as one message; then everyone sends, within its row, each processor what is for it
/// from the whole column.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      rows − 1 and columns − 1 messages a rank; every block travels twice.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program columns_rows_all_to_all(const Grid& grid, int rank);

/// 2-lev-sq: the machine is cut into about √p squares. Within each, what is for square l goes to
/// member l; member l of square j sends it to member j of square l; and within the squares
/// everything goes to its processor. Where there are more squares than members, a member minds
/// several squares, and sends as many messages in the second step; where there are fewer, the other
/// members mind none. So any grid will do.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      three supersteps; with √p squares of √p members 2 (√p − 1) + 1 messages a rank; every
///           block travels three times at most.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program squares_all_to_all(const Grid& grid, int rank);

/// logp-lev-bfly: the machine is halved, along its longer side; everyone sends what is for the
/// other half to the processor at its own place there, and each half goes on by itself. Where
/// halves differ, the last column or row of the larger one sends to the first of the smaller.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      ⌈log2 columns⌉ + ⌈log2 rows⌉ supersteps of a message a rank; where halves are equal,
///           half of what everyone has.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 4, doi:10.1006/jpdc.1996.0010
Program butterfly_all_to_all(const Grid& grid, int rank);

} // namespace sextant::collective
