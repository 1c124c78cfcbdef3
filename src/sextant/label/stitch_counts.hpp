// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/blocks.hpp"
#include "sextant/label/label_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sextant::label {

/// Counts of a block's label within one part of the volume.
struct SeenLabel {
    int block;
    std::uint64_t label;
    Elements first;        ///< the first voxel that the block owns; -1: none
    Elements voxels, kept; ///< voxels with the label; those of them that the block owns
};

/// Counts voxels with one label in each of two blocks that overlap or touch. A label may be 0.
struct MeetingLabels {
    int pair; ///< index into BlockCover::pairs()
    kernel::PairCount count;
};

/// Rows between two checks for cancellation, so that the checks cost little.
inline constexpr Elements rows_between_checks = 16;

/// Calls take(begin, end, value) for each run of equal values.
template <class Value, class Take>
void each_equal_run(const Value* values, Elements begin, Elements end, const Take& take) {
    while (begin < end) {
        const Value value = values[begin];
        Elements next = begin + 1;
        while (next < end && values[next] == value)
            ++next;
        take(begin, next, value);
        begin = next;
    }
}

/// Counts the labels of blocks, and the pairs of labels where blocks overlap or touch, one slab of
/// the volume after another. Each voxel must be in exactly one slab.
class StitchCounts {
  public:
    /// Keeps references.
    StitchCounts(LabelBlocks& blocks, const RunControl& control);

    /// Memory for the labels of a slab.
    Bytes bytes_of(const kernel::VolumeBox& slab) const;
    /// Reads a slab of whole rows. Throws Cancelled; count() does too.
    void load(const kernel::VolumeBox& slab);
    /// Counts the slab that was read last.
    void count();

    /// The counts of all slabs, in no particular order. Call after the last count().
    std::vector<MeetingLabels> meeting() const;
    std::vector<SeenLabel> take_labels() { return std::move(seen_); }

  private:
    struct Key {
        int block;
        std::uint64_t label;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return std::hash<std::uint64_t>()(key.label * 0x9E3779B97F4A7C15U +
                                              static_cast<std::uint64_t>(key.block));
        }
    };

    kernel::VolumeBox with_neighbours(const kernel::VolumeBox& slab) const;
    std::uint32_t id_of(int block, std::uint64_t label);
    std::uint32_t* ids(int block, Elements z, Elements y, Elements x);
    void count_labels(int block);
    void count_shared(int pair, const kernel::VolumeBox& box);
    void count_touching(int pair, const kernel::VolumeBox& box);

    LabelBlocks& blocks_;
    const RunControl& control_;
    std::vector<Elements> plane_faces_, row_faces_; // positions of faces between touching blocks
    kernel::VolumeBox slab_;
    std::vector<int> loaded_;           // blocks in memory
    std::vector<kernel::VolumeBox> in_; // [i]: the part of block loaded_[i] in memory
    std::vector<std::size_t> offsets_;  // [i]: position in ids_
    Memory ids_;
    std::unordered_map<Key, std::uint32_t, Hash> id_of_;
    std::vector<SeenLabel> seen_;              // [id − 1]
    std::map<int, kernel::PairCounts> counts_; // [pair]
    std::vector<kernel::VoxelRun> runs_, other_runs_;
};

} // namespace sextant::label
