// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/blocks.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/label_blocks.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// The number of an object, from 1; 0 is the background.
using ObjectNumber = std::uint32_t;

/// Options for stitching labelled blocks. They must be the same on every rank.
struct StitchOptions {
    /// Depth, height and width of the blocks into which each given volume is cut; 0: no cuts along
    /// this axis. Empty: each volume is one block.
    std::vector<Elements> block;
    /// Depth, height and width of the stitched volume; empty: as far as the blocks extend.
    std::vector<Elements> size;
    bool allow_gaps = false; ///< voxels in no block are background, not an error
    kernel::MatchScore by = kernel::MatchScore::iou;
    /// The minimum score for joining two labels; default: an IoU of 0.5, or one voxel.
    std::optional<double> threshold;
    Bytes memory = Bytes{1} << 30; ///< for samples and labels, of all ranks together
};
Record record_of(StitchOptions& options);

/// A label of a block, and its object's label in the stitched volume.
struct StitchedLabel {
    ObjectNumber number = 0; ///< 0: the object has no voxels left
    int block = 0;           ///< block number in LabelBlocks
    std::uint64_t label = 0;
    /// Voxels with the label in the block; those of them kept in the result.
    Elements voxels = 0, kept = 0;
};

/// The result of stitching. The same on every rank unless stated otherwise.
struct StitchResult {
    kernel::VolumeShape shape;
    Elements blocks = 0, block_pairs = 0;          ///< pairs of blocks that overlap or touch
    Elements labels = 0;                           ///< of all blocks
    Elements objects = 0;                          ///< labels of the stitched volume
    Elements joined = 0, conflicts = 0, below = 0; ///< pairs of labels, by MatchOutcome
    Elements dropped = 0;                          ///< labels of objects that have no voxel left
    Elements clipped = 0;                    ///< unjoined labels that lost voxels to another block
    std::vector<kernel::LabelMatch> matches; ///< from the best to the worst; on rank 0
    std::vector<StitchedLabel> table;        ///< sorted by number, block and label; on rank 0
    Seconds read = 0, match = 0, write = 0;  ///< on this rank
};
/// Returns a record of the result without matches and table.
Record record_of(const StitchResult& result);

/// Receives the label rows of the stitched volume, in order. Each call passes whole rows of one
/// plane.
using StitchSink = std::function<void(std::span<const ObjectNumber> rows)>;

/// Joins the segmentations of blocks of a volume, which may overlap, into one segmentation.
///
/// Where two blocks overlap, each pair of their labels that shares voxels is scored by intersection
/// over union within the overlap, or by the number of shared voxels. Blocks that only touch are
/// compared voxel by voxel across their common face, where each voxel belongs to its block. Pairs
/// are joined from the best score to the worst, unless the score is below the threshold, or the
/// joined object would have two labels of one block (kernel::ObjectJoins). In an overlap, each
/// voxel has the label of the block to which it belongs (kernel::BlockCover).
///
/// Input     blocks that this rank can read; the same on every rank.
/// Output    labels 1, 2, … in the order of the objects' first voxels, row by row and plane by
///           plane; 0 is the background. Rank 0 passes all rows to `write`.
/// Throws    on every rank AgreedFailure, if options differ or are invalid, the memory cannot hold
///           a row of each block, a block cannot be read, has a negative label or has changed, or
///           blocks have more than 2³¹ labels; Cancelled.
/// Collective.
/// Cost      reads every voxel twice, first to count, then to write; ranks share the planes. Memory
///           as in the options, about 1 kB for each block, and on rank 0 about 200 bytes for each
///           label of a block and 300 for each pair of labels that meet.
/// Deterministic  the same labels for every order of blocks, memory and number of ranks.
class Stitching {
  public:
    /// The constructor is not collective.
    explicit Stitching(Communicator communicator, StitchOptions options = {},
                       RunControl control = {});

    /// Ends the use of this object on all ranks: ranks that wait for this one in stitch(), or call
    /// it later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Opens the blocks that stitch() takes. Not collective. Throws as LabelBlocks does.
    label::LabelBlocks open(std::vector<LabelBlock> blocks) const;
    StitchResult stitch(label::LabelBlocks& blocks, const StitchSink& write) const;

  private:
    Communicator communicator_;
    StitchOptions options_;
    RunControl control_;
};

} // namespace sextant
