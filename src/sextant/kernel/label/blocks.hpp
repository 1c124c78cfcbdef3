// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/bodies.hpp"
#include "sextant/kernel/label/plane_seam.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

// Blocks of a volume, which may overlap, and their segmentations: assigns each voxel to one block,
// and joins the labels of different blocks that are the same object.
namespace sextant::kernel {

/// A box of voxels. Coordinates are (z, y, x).
struct VolumeBox {
    std::array<Elements, 3> low{}, high{}; ///< the first voxel, and one past the last

    Elements side(std::size_t axis) const { return high[axis] - low[axis]; }
    bool empty() const { return side(0) <= 0 || side(1) <= 0 || side(2) <= 0; }
    Elements voxels() const { return empty() ? 0 : side(0) * side(1) * side(2); }
    bool has_row(Elements z, Elements y) const {
        return z >= low[0] && z < high[0] && y >= low[1] && y < high[1];
    }
    bool operator==(const VolumeBox&) const = default;
};

/// The intersection of two boxes.
VolumeBox common(const VolumeBox& a, const VolumeBox& b);

/// Text for messages: "z 0 to 9, y 5 to 5, x 0 to 99", with the last voxels included.
std::string text_of(const VolumeBox& box);

/// Two blocks, a < b, that share voxels or touch at faces of voxels.
struct BlockPair {
    int a = 0, b = 0;
    /// The axis across which the blocks touch; -1 if they share voxels.
    int axis = -1;
    bool a_first = true; ///< if they touch: a has the lower coordinates along the axis
    /// The voxels that the blocks share; or, if they touch, the voxels of the block with the higher
    /// coordinates that touch the other one.
    VolumeBox box;
};

/// Voxels [begin, end) of a row.
struct VoxelRun {
    Elements begin, end;
};

/// Blocks that cover a volume and may overlap. Each voxel belongs to one of the blocks that contain
/// it: the block in which the voxel is deepest. The depth is the distance to the nearest face of
/// the block. If the depth is the same in two blocks, the distances to the faces across the other
/// axes are compared, the shorter first. If these are equal too, the voxel belongs to the block
/// with the lower number. Two blocks of a grid are thus cut in the middle of their overlap.
class BlockCover {
  public:
    BlockCover() = default;
    /// Requires  blocks sorted by `low`, all different and not empty.
    /// Cost      compares blocks whose ranges of planes and rows overlap.
    explicit BlockCover(std::vector<VolumeBox> blocks);

    const std::vector<VolumeBox>& blocks() const { return blocks_; }
    /// All pairs of blocks that share voxels or touch, sorted by (a, b).
    const std::vector<BlockPair>& pairs() const { return pairs_; }

    /// Sets `runs` to the voxels of a row that belong to a block. Requires a row of the block.
    void owned(int block, Elements z, Elements y, std::vector<VoxelRun>& runs) const;
    /// True if a voxel of a block belongs to the block.
    bool owns(int block, Elements z, Elements y, Elements x) const;

    /// The first box of voxels, in the order of planes, rows and columns, that no block contains;
    /// empty if the blocks cover the volume.
    std::optional<VolumeBox> gap(const VolumeShape& volume) const;

  private:
    std::vector<VolumeBox> blocks_;
    std::vector<BlockPair> pairs_;
    std::vector<std::vector<int>> rivals_; // [block]: blocks that share voxels with it
};

/// Counts voxels by their labels in two blocks. Labels are numbers from 1; 0 is the background.
class PairCounts {
  public:
    /// Adds voxels, given their labels in both blocks.
    void add(const std::uint32_t* a, const std::uint32_t* b, Elements voxels);

    /// Calls take(a, b, voxels) for each pair of labels, in no particular order; a or b may be 0.
    template <class Take>
    void each(const Take& take) const {
        for (const auto& [labels, voxels] : counts_)
            take(static_cast<std::uint32_t>(labels >> 32), static_cast<std::uint32_t>(labels),
                 voxels);
    }

  private:
    std::unordered_map<std::uint64_t, Elements> counts_;
};

/// The number of voxels with labels a and b in two blocks. Labels may come from any integer type.
struct PairCount {
    std::uint64_t a, b;
    Elements voxels;
};

/// The outcome for a pair of labels of different blocks.
enum class MatchOutcome : std::uint8_t {
    joined,   ///< both labels are the same object
    conflict, ///< not joined, because the object would have two labels of one block
    below     ///< not joined, because the score is below the threshold
};

/// Labels a and b of two blocks that share voxels, or that touch at the face of the blocks.
struct LabelMatch {
    int block_a = 0, block_b = 0; ///< block_a < block_b
    std::uint64_t a = 0, b = 0;
    /// Shared voxels; if blocks only touch, pairs of voxels with a common face.
    Elements voxels = 0;
    Elements either = 0; ///< voxels of the overlap with label a or b or both
    MatchOutcome outcome = MatchOutcome::below;

    /// The intersection over the union, within the overlap or across the common face.
    double iou() const { return static_cast<double>(voxels) / static_cast<double>(either); }
};

/// Returns the pairs of labels that share voxels, sorted by (a, b).
///
/// Input     the counts of two blocks with all voxels in which a or b is not 0, sorted by (a, b).
std::vector<LabelMatch> matches_of(std::span<const PairCount> counts, int block_a, int block_b);

/// The score of a match: its IoU, or its number of voxels.
enum class MatchScore : std::uint8_t { iou, voxels };

/// Joins the labels of blocks into objects. The best matches come first: by score; of equal scores,
/// by blocks, then by labels. Two objects are not joined if both have a label of the same block.
///
/// Input     the block of each label. The labels of all blocks are numbered consecutively from 0.
class ObjectJoins {
  public:
    explicit ObjectJoins(std::span<const int> block_of);

    /// Joins labels, and sets the outcomes. `index_of(block, label)` returns the number of a label.
    /// Output    the matches, sorted from the best to the worst.
    template <class IndexOf>
    void join(std::vector<LabelMatch>& matches, MatchScore score, double threshold,
              const IndexOf& index_of) {
        sort_best_first(matches, score);
        for (LabelMatch& match : matches) {
            if (value(match, score) < threshold)
                match.outcome = MatchOutcome::below;
            else
                match.outcome =
                    join(index_of(match.block_a, match.a), index_of(match.block_b, match.b));
        }
    }

    /// Numbers the objects, as JoinedParts does. Call once, after the last join.
    Label number() { return objects_.number(); }
    /// After number(): the number of a label's object.
    Label operator[](Elements label) const { return objects_[label]; }

  private:
    static double value(const LabelMatch& match, MatchScore score) {
        return score == MatchScore::iou ? match.iou() : static_cast<double>(match.voxels);
    }
    static void sort_best_first(std::vector<LabelMatch>& matches, MatchScore score);
    MatchOutcome join(Elements a, Elements b);
    std::vector<int>& blocks_of(Label object);

    std::span<const int> block_of_;
    JoinedParts objects_{"blocks"};
    std::unordered_map<Label, std::vector<int>> blocks_; // [root of an object]: its blocks, sorted
};

} // namespace sextant::kernel
