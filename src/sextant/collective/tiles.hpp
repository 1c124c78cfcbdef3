// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"

#include <vector>

namespace sextant::collective {

/// The region of `inner` in a buffer that holds rectangle `outer` row by row; may be empty.
Region region_of(const Tile& outer, const Tile& inner, int buffer);

/// Data divided among ranks: an image in the tiles of a grid, or blocks of any lengths in one
/// buffer.
class Partition {
  public:
    /// Tile i of the image belongs to rank i. For an all-to-all: strips of whole rows become strips
    /// of whole columns.
    Partition(const Grid& image) : grid_(image) {}

    /// One block per rank, of lengths[rank] >= 0 elements. In a buffer with all blocks, block i
    /// begins at firsts[i]; if `firsts` is empty, blocks are in rank order.
    static Partition blocks(std::vector<Elements> lengths, std::vector<Elements> firsts = {});
    /// For an all-to-all: lengths[i · ranks + j] elements go from rank i to rank j. Each rank
    /// stores the blocks that it sends in destination order, and those that it receives in source
    /// order.
    static Partition pairs(int ranks, std::vector<Elements> lengths);

    /// The grid of processors, numbered row by row, with the size of the image if the data is an
    /// image.
    const Grid& grid() const { return grid_; }
    int ranks() const { return grid_.ranks(); }
    bool is_image() const { return lengths_.empty(); }

    Elements elements() const { return is_image() ? grid_.width * grid_.height : total_; }
    Elements elements(int rank) const;
    /// The first element of a rank's block in a buffer with all blocks.
    Elements first(int rank) const { return firsts_[static_cast<std::size_t>(rank)]; }
    /// The length of the block from one rank to another. Only for partitions made by `pairs`.
    Elements between(int from, int to) const {
        return lengths_[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks()) +
                        static_cast<std::size_t>(to)];
    }

  private:
    Grid grid_;
    std::vector<Elements> lengths_, firsts_; ///< empty if the data is an image
    Elements total_ = 0;
};

/// Appends a region to those of a message. If the region is adjacent to the last one, extends the
/// last one.
void append(std::vector<Region>& regions, const Region& region);

/// A rectangle of the processors that hold the tiles of a grid. Messages inside disjoint
/// submachines share no links. Ranks are numbered row by row over the whole grid.
struct Submachine {
    int column = 0, row = 0, columns = 0, rows = 0;

    int size() const { return columns * rows; }
    bool operator==(const Submachine&) const = default;
};

Submachine whole_machine(const Grid& grid);

/// The processor at the first column and row of a submachine, which communicates for the whole
/// submachine.
int leader(const Grid& grid, const Submachine& machine);
bool contains(const Grid& grid, const Submachine& machine, int rank);
/// The ranks of a submachine, ascending.
std::vector<int> ranks_of(const Grid& grid, const Submachine& machine);

/// The label of steps within a submachine; 0 for the whole machine. The label encodes the
/// submachine, so that models can charge its real extent. Throws InvalidTask above 46,340 ranks,
/// for which there are not enough labels.
int group_of(const Grid& grid, const Submachine& machine);
Submachine submachine_of(const Grid& grid, int group);

/// Cuts a submachine into two parts along its longer side (across its columns if it is square). The
/// first part contains the leader and has the fraction `share` of the length, rounded. A single
/// processor is not cut.
std::vector<Submachine> cut_in_two(const Submachine& machine, double share = .5);

/// Cuts a submachine into about √p squares: a side of n processors into round(√n) nearly equal
/// parts. The squares are listed row by row.
std::vector<Submachine> into_squares(const Submachine& machine);

/// The tiles or blocks of some ranks, packed in a buffer. Consecutive tiles of an image are packed
/// as at most three rectangles, each row by row: the rest of a row of tiles, whole rows of tiles,
/// and the beginning of a row; the tiles of a submachine form one rectangle. Blocks follow one
/// another in rank order.
class PackedTiles {
  public:
    /// All tiles or blocks: the image, or the blocks in the order of the partition.
    explicit PackedTiles(const Partition& partition);
    /// The tiles or blocks of ranks first ... last − 1. `last` may be beyond the last rank.
    PackedTiles(const Partition& partition, int first, int last);
    PackedTiles(const Partition& partition, const Submachine& machine);

    Elements elements() const;

    /// The regions of `part`, a subset of these tiles, in the order in which `part` packs them.
    /// `buffer` is the buffer that holds these tiles.
    std::vector<Region> regions_of(const PackedTiles& part, int buffer) const;
    /// The region of one rank's tile; empty if the tile is empty.
    Region region_of(int rank, int buffer) const;

  private:
    Region place(const Tile& inner, int buffer) const;
    void pack(std::vector<int> ranks);

    const Partition* partition_;
    std::vector<Tile> rectangles_; ///< rectangles of an image
    std::vector<int> ranks_; ///< ranks of the blocks, ascending; their starts are in `firsts_`
    std::vector<Elements> firsts_;
};

} // namespace sextant::collective
