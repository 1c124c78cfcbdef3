// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/stitching.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/label/stitch_run.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant {

Record record_of(StitchOptions& options) {
    constexpr double most_side = 2147483647;
    Record record;
    record
        .add("block", options.block, "D,H,W",
             "blocks into which each volume is cut; 0: not along this axis")
        .between(0, most_side);
    record.add("size", options.size, "D,H,W", "size of the whole; default: as the blocks need")
        .between(1, most_side);
    record.add("allow_gaps", options.allow_gaps, "voxels in no block are background, not an error");
    record.add("by", options.by,
               {{"iou", kernel::MatchScore::iou}, {"voxels", kernel::MatchScore::voxels}}, "SCORE",
               "score: intersection over union, or shared voxels");
    record
        .add("threshold", options.threshold, "X",
             "least score of labels that are joined; default: 0.5, or 1 voxel")
        .between(0, 1e15);
    record.add_memory("memory", options.memory, "memory limit for samples and labels");
    return record;
}

Record record_of(const StitchResult& result) {
    return {{"depth", result.shape.depth},
            {"height", result.shape.height},
            {"width", result.shape.width},
            {"blocks", result.blocks, "number of blocks"},
            {"block_pairs", result.block_pairs, "pairs of blocks that overlap or touch"},
            {"labels", result.labels, "labels of all blocks"},
            {"objects", result.objects, "labels of the whole"},
            {"joined", result.joined, "pairs of labels that are the same object"},
            {"conflicts", result.conflicts,
             "pairs not joined, because an object would have two labels of one block"},
            {"below", result.below, "pairs not joined, because their score is too low"},
            {"dropped", result.dropped, "labels whose object has no voxel left"},
            {"clipped", result.clipped, "labels that lost voxels and are joined to no other"},
            {"seconds",
             {{"read", result.read}, {"match", result.match}, {"write", result.write}},
             "on this rank"}};
}

Stitching::Stitching(Communicator communicator, StitchOptions options, RunControl control)
    : communicator_(scope_later(communicator, "Stitching")),
      options_(std::move(options)),
      control_(std::move(control)) {}

void Stitching::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

label::LabelBlocks Stitching::open(std::vector<LabelBlock> blocks) const {
    return {std::move(blocks), options_.block, options_.size, options_.allow_gaps};
}

StitchResult Stitching::stitch(label::LabelBlocks& blocks, const StitchSink& write) const {
    StitchOptions options = options_;
    require_same(communicator_, options);
    const bool by_iou = options.by == kernel::MatchScore::iou;
    const double threshold = options.threshold.value_or(by_iou ? .5 : 1);
    agree(communicator_, [&] {
        if (by_iou && !(threshold > 0 && threshold <= 1))
            throw InvalidTask(fmt::format(
                "threshold: an IoU of {}, expected more than 0 and at most 1", threshold));
        if (!by_iou && !(threshold >= 1))
            throw InvalidTask(
                fmt::format("threshold: {} shared voxels, expected 1 or more", threshold));
    });
    return label::StitchRun(communicator_, options, control_, blocks).run(threshold, write);
}

} // namespace sextant
