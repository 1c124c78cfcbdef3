// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/bodies.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// The voxels that both boxes have.
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
/// it: to that in which it is deepest. The depth is the distance to the nearest face of the block;
/// if it is the same in two blocks, the distances to the faces across the other axes are compared,
/// the shorter first; if these are the same too, the voxel belongs to the block with the lower
/// number. Two blocks of a grid are thus cut in the middle of their overlap.
class BlockCover {
  public:
    BlockCover() = default;
    /// Requires  blocks sorted by `low`, all different and not empty.
    /// Cost      compares blocks whose planes and rows meet.
    explicit BlockCover(std::vector<VolumeBox> blocks);

    const std::vector<VolumeBox>& blocks() const { return blocks_; }
    /// All pairs of blocks that share voxels or touch, sorted by (a, b).
    const std::vector<BlockPair>& pairs() const { return pairs_; }

    /// Sets `runs` to the voxels of a row that belong to a block. Requires a row of the block.
    void owned(int block, Elements z, Elements y, std::vector<VoxelRun>& runs) const;
    /// True if a voxel of a block belongs to the block.
    bool owns(int block, Elements z, Elements y, Elements x) const;

    /// Some box of voxels that no block contains, or nothing if the blocks cover the volume. It is
    /// the first one in the order of planes, rows and columns.
    std::optional<VolumeBox> gap(const VolumeShape& volume) const;

  private:
    std::vector<VolumeBox> blocks_;
    std::vector<BlockPair> pairs_;
    std::vector<std::vector<int>> rivals_; // [block]: blocks that share voxels with it
};

} // namespace sextant::kernel
