// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/kernel/label/label_matches.hpp"
#include "sextant/label/label_blocks.hpp"
#include "sextant/label/stitch_counts.hpp"
#include "sextant/label/stitching.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sextant::label {

/// One rank's part in stitching blocks. The rank counts the labels and pairs of labels of its part
/// of the volume, in slabs of planes, or in strips of rows of a plane if a plane does not fit in
/// memory. Rank 0 joins the labels of all. Then ranks make successive strips in turn, and rank 0
/// writes them.
class StitchRun {
  public:
    StitchRun(const Communicator& communicator, const StitchOptions& options,
              const RunControl& control, LabelBlocks& blocks)
        : communicator_(communicator), options_(options), control_(control), blocks_(blocks) {}

    /// Collective.
    StitchResult run(double threshold, const StitchSink& write);

  private:
    /// A label of a block, and that of its object.
    struct Numbered {
        int block;
        std::uint64_t label;
        ObjectNumber number;
    };

    void require_same_blocks();
    kernel::VolumeBox own_part() const;
    void count_all();
    void join(double threshold);
    std::vector<kernel::LabelMatch> find_matches(std::vector<MeetingLabels> meeting) const;
    void number(std::vector<SeenLabel> seen, std::vector<MeetingLabels> meeting, double threshold);

    void write_all(const StitchSink& write);
    void fill(const kernel::VolumeBox& strip, std::vector<ObjectNumber>& to);
    ObjectNumber number_of(int block, std::uint64_t label) const;
    void require_unchanged();

    const Communicator& communicator_;
    const StitchOptions& options_;
    const RunControl& control_;
    LabelBlocks& blocks_;
    std::optional<StitchCounts> counts_;
    std::vector<Numbered> numbers_;   // sorted by block and label
    std::vector<std::size_t> begins_; // [block]: of numbers_
    std::vector<Elements> kept_;      // [block]: voxels that were labelled when they were written
    std::vector<kernel::VoxelRun> runs_;
    StitchResult result_;
};

} // namespace sextant::label
