// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/stitch_counts.hpp"

#include "sextant/core/equal_range.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::label {

using kernel::BlockPair;
using kernel::VolumeBox;
using kernel::VoxelRun;

namespace {

/// Calls take(begin, end) for each run of voxels that are in both lists of runs.
template <class Take>
void each_common_run(std::span<const VoxelRun> a, std::span<const VoxelRun> b, Elements begin,
                     Elements end, const Take& take) {
    for (const VoxelRun& first : a) {
        for (const VoxelRun& second : b) {
            const Elements from = std::max({first.begin, second.begin, begin});
            const Elements to = std::min({first.end, second.end, end});
            if (from < to)
                take(from, to);
        }
    }
}

} // namespace

StitchCounts::StitchCounts(LabelBlocks& blocks, const RunControl& control)
    : blocks_(blocks), control_(control) {
    for (const BlockPair& pair : blocks_.cover().pairs()) {
        if (pair.axis == 0)
            plane_faces_.push_back(pair.box.low[0]);
        if (pair.axis == 1)
            row_faces_.push_back(pair.box.low[1]);
    }
    for (std::vector<Elements>* faces : {&plane_faces_, &row_faces_}) {
        std::ranges::sort(*faces);
        faces->erase(std::unique(faces->begin(), faces->end()), faces->end());
    }
}

Bytes StitchCounts::bytes_of(const VolumeBox& slab) const {
    const VolumeBox box = with_neighbours(slab);
    Elements voxels = 0;
    for (const int block : blocks_.blocks_in(box))
        voxels += kernel::common(blocks_.cover().blocks()[index_of(block)], box).voxels();
    return voxels * static_cast<Bytes>(sizeof(std::uint32_t));
}

/// The slab, extended by the plane or row before it if blocks touch there.
VolumeBox StitchCounts::with_neighbours(const VolumeBox& slab) const {
    VolumeBox box = slab;
    if (std::ranges::binary_search(plane_faces_, slab.low[0]))
        --box.low[0];
    if (std::ranges::binary_search(row_faces_, slab.low[1]))
        --box.low[1];
    return box;
}

std::uint32_t StitchCounts::id_of(int block, std::uint64_t label) {
    if (label == 0)
        return 0;
    const auto [found, is_new] = id_of_.try_emplace({block, label});
    if (is_new) {
        if (std::ssize(seen_) == kernel::JoinedParts::most_labels)
            throw InvalidData(fmt::format("the blocks have more than {} labels",
                                          kernel::JoinedParts::most_labels));
        seen_.push_back({block, label, -1, 0, 0});
        found->second = static_cast<std::uint32_t>(seen_.size());
    }
    return found->second;
}

/// Reads all blocks of a slab, and replaces their labels by ids.
void StitchCounts::load(const VolumeBox& slab) {
    slab_ = slab;
    const VolumeBox box = with_neighbours(slab);
    loaded_ = blocks_.blocks_in(box);
    in_.clear();
    offsets_.clear();
    Elements voxels = 0;
    for (const int block : loaded_) {
        in_.push_back(kernel::common(blocks_.cover().blocks()[index_of(block)], box));
        offsets_.push_back(index_of(voxels));
        voxels += in_.back().voxels();
    }
    const Bytes bytes = voxels * static_cast<Bytes>(sizeof(std::uint32_t));
    if (ids_.size() < bytes) {
        ids_ = {}; // free first, so that both are not in memory at once
        ids_ = Memory(bytes);
    }
    blocks_.read(box, [&](int block, Elements z, Elements y, std::span<const std::uint64_t> row) {
        if (y % rows_between_checks == 0)
            control_.check();
        std::uint32_t* const to =
            ids(block, z, y, blocks_.cover().blocks()[index_of(block)].low[2]);
        each_equal_run(row.data(), 0, std::ssize(row),
                       [&](Elements begin, Elements end, std::uint64_t label) {
                           std::fill(to + begin, to + end, id_of(block, label));
                       });
    });
}

/// The ids in a row of a loaded block, from voxel x on.
std::uint32_t* StitchCounts::ids(int block, Elements z, Elements y, Elements x) {
    const auto i =
        static_cast<std::size_t>(std::ranges::lower_bound(loaded_, block) - loaded_.begin());
    const VolumeBox& box = in_[i];
    return reinterpret_cast<std::uint32_t*>(ids_.data()) + offsets_[i] +
           ((z - box.low[0]) * box.side(1) + y - box.low[1]) * box.side(2) + x - box.low[2];
}

/// Counts the labels of a block in the slab.
void StitchCounts::count_labels(int block) {
    const kernel::VolumeShape& shape = blocks_.shape();
    const VolumeBox box = kernel::common(blocks_.cover().blocks()[index_of(block)], slab_);
    for (Elements z = box.low[0]; z < box.high[0]; ++z) {
        control_.check();
        for (Elements y = box.low[1]; y < box.high[1]; ++y) {
            each_equal_run(ids(block, z, y, box.low[2]), 0, box.side(2),
                           [&](Elements begin, Elements end, std::uint32_t id) {
                               if (id > 0)
                                   seen_[id - 1].voxels += end - begin;
                           });
            blocks_.cover().owned(block, z, y, runs_);
            for (const VoxelRun& run : runs_) {
                const Elements first = (z * shape.height + y) * shape.width + run.begin;
                each_equal_run(ids(block, z, y, run.begin), 0, run.end - run.begin,
                               [&](Elements begin, Elements end, std::uint32_t id) {
                                   if (id == 0)
                                       return;
                                   SeenLabel& seen = seen_[id - 1];
                                   seen.kept += end - begin;
                                   if (seen.first < 0 || seen.first > first + begin)
                                       seen.first = first + begin;
                               });
            }
        }
    }
}

void StitchCounts::count() {
    const std::vector<BlockPair>& pairs = blocks_.cover().pairs();
    for (const int block : loaded_) {
        count_labels(block);
        for (const BlockPair& pair : equal_range(pairs, block, &BlockPair::a)) {
            const VolumeBox box = kernel::common(pair.box, slab_);
            if (box.empty())
                continue;
            const int number = static_cast<int>(&pair - pairs.data());
            pair.axis < 0 ? count_shared(number, box) : count_touching(number, box);
        }
    }
}

void StitchCounts::count_shared(int pair, const VolumeBox& box) {
    const BlockPair& blocks = blocks_.cover().pairs()[index_of(pair)];
    kernel::PairCounts& counts = counts_[pair];
    for (Elements z = box.low[0]; z < box.high[0]; ++z) {
        for (Elements y = box.low[1]; y < box.high[1]; ++y) {
            check_cancelled(box.side(2));
            counts.add(ids(blocks.a, z, y, box.low[2]), ids(blocks.b, z, y, box.low[2]),
                       box.side(2));
        }
    }
}

/// Counts the pairs of adjacent voxels across the face where two blocks touch. A pair counts only
/// if each of its voxels belongs to the block on its side.
void StitchCounts::count_touching(int pair, const VolumeBox& box) {
    const kernel::BlockCover& cover = blocks_.cover();
    const BlockPair& blocks = cover.pairs()[index_of(pair)];
    const std::array<Elements, 3> step = {blocks.axis == 0, blocks.axis == 1, blocks.axis == 2};
    const int before = blocks.a_first ? blocks.a : blocks.b,
              behind = blocks.a_first ? blocks.b : blocks.a;
    kernel::PairCounts& counts = counts_[pair];
    for (Elements z = box.low[0]; z < box.high[0]; ++z) {
        for (Elements y = box.low[1]; y < box.high[1]; ++y) {
            check_cancelled(box.side(2));
            const auto add = [&](Elements begin, Elements end) {
                const std::uint32_t* const front =
                    ids(before, z - step[0], y - step[1], begin - step[2]);
                const std::uint32_t* const back = ids(behind, z, y, begin);
                counts.add(blocks.a_first ? front : back, blocks.a_first ? back : front,
                           end - begin);
            };
            if (blocks.axis == 2) {
                const Elements x = box.low[2];
                if (cover.owns(before, z, y, x - 1) && cover.owns(behind, z, y, x))
                    add(x, x + 1);
                continue;
            }
            cover.owned(before, z - step[0], y - step[1], runs_);
            cover.owned(behind, z, y, other_runs_);
            each_common_run(runs_, other_runs_, box.low[2], box.high[2], add);
        }
    }
}

std::vector<MeetingLabels> StitchCounts::meeting() const {
    std::vector<MeetingLabels> all;
    const auto label_of = [&](std::uint32_t id) { return id == 0 ? 0 : seen_[id - 1].label; };
    for (const auto& [pair, counts] : counts_)
        counts.each([&, number = pair](std::uint32_t a, std::uint32_t b, Elements voxels) {
            check_cancelled(1);
            all.push_back({number, {label_of(a), label_of(b), voxels}});
        });
    return all;
}

} // namespace sextant::label
