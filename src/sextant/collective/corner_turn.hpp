// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"

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

} // namespace sextant::collective
