// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/blocks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

VolumeBox common(const VolumeBox& a, const VolumeBox& b) {
    VolumeBox box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::max(a.low[axis], b.low[axis]);
        box.high[axis] = std::min(a.high[axis], b.high[axis]);
    }
    return box;
}

std::string text_of(const VolumeBox& box) {
    return fmt::format("z {} to {}, y {} to {}, x {} to {}", box.low[0], box.high[0] - 1,
                       box.low[1], box.high[1] - 1, box.low[2], box.high[2] - 1);
}

namespace {

/// The distance from a voxel to the nearer of a block's two faces perpendicular to an axis.
Elements distance_to_face(const VolumeBox& block, std::size_t axis, Elements position) {
    return std::min(position - block.low[axis], block.high[axis] - 1 - position);
}

/// For the voxels of a row and each axis, the distance from the voxel to the nearer of a block's
/// two faces perpendicular to the axis.
class RowDepth {
  public:
    RowDepth(const VolumeBox& block, Elements z, Elements y) : block_(&block) {
        const Elements first = distance_to_face(block, 0, z),
                       second = distance_to_face(block, 1, y);
        less_ = std::min(first, second);
        more_ = std::max(first, second);
    }

    /// The distances in ascending order.
    std::array<Elements, 3> at(Elements x) const {
        const Elements distance = distance_to_face(*block_, 2, x);
        return {std::min(less_, distance), std::min(more_, std::max(less_, distance)),
                std::max(more_, distance)};
    }

  private:
    const VolumeBox* block_;
    Elements less_, more_;
};

std::optional<BlockPair> meeting(const std::vector<VolumeBox>& blocks, int a, int b) {
    const VolumeBox &first = blocks[static_cast<std::size_t>(a)],
                    &second = blocks[static_cast<std::size_t>(b)];
    BlockPair pair{a, b, -1, true, common(first, second)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (pair.box.side(axis) > 0)
            continue;
        if (pair.box.side(axis) < 0 || pair.axis >= 0)
            return std::nullopt;
        pair.axis = static_cast<int>(axis);
        pair.a_first = first.high[axis] == second.low[axis];
    }
    if (pair.axis >= 0)
        ++pair.box.high[static_cast<std::size_t>(pair.axis)];
    return pair;
}

/// The coordinates along an axis at which blocks begin or end, within a volume.
std::vector<Elements> cuts_of(const std::vector<const VolumeBox*>& blocks, std::size_t axis,
                              Elements end) {
    std::vector<Elements> cuts = {0, end};
    for (const VolumeBox* block : blocks) {
        cuts.push_back(std::min(block->low[axis], end));
        cuts.push_back(std::min(block->high[axis], end));
    }
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
}

/// The blocks that contain a coordinate along an axis.
std::vector<const VolumeBox*> blocks_at(const std::vector<const VolumeBox*>& blocks,
                                        std::size_t axis, Elements position) {
    std::vector<const VolumeBox*> found;
    std::ranges::copy_if(blocks, std::back_inserter(found), [&](const VolumeBox* block) {
        return position >= block->low[axis] && position < block->high[axis];
    });
    return found;
}

} // namespace

BlockCover::BlockCover(std::vector<VolumeBox> blocks)
    : blocks_(std::move(blocks)), rivals_(blocks_.size()) {
    // Blocks that begin in the same plane are sorted by their first rows.
    struct Layer {
        std::ptrdiff_t begin, end;
        Elements most_rows;
    };
    std::vector<Layer> layers;
    const std::ptrdiff_t count = std::ssize(blocks_);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const VolumeBox& block = blocks_[static_cast<std::size_t>(i)];
        if (i == 0 || blocks_[static_cast<std::size_t>(i - 1)].low[0] != block.low[0])
            layers.push_back({i, i, 0});
        layers.back().end = i + 1;
        layers.back().most_rows = std::max(layers.back().most_rows, block.side(1));
    }
    const auto first_row = [](const VolumeBox& block) { return block.low[1]; };
    std::size_t own_layer = 0;
    for (std::ptrdiff_t a = 0; a < count; ++a) {
        const VolumeBox& block = blocks_[static_cast<std::size_t>(a)];
        own_layer += a == layers[own_layer].end ? 1 : 0;
        for (std::size_t l = own_layer; l < layers.size(); ++l) {
            const Layer& layer = layers[l];
            if (blocks_[static_cast<std::size_t>(layer.begin)].low[0] > block.high[0])
                break;
            const auto begin =
                std::ranges::lower_bound(blocks_.begin() + layer.begin, blocks_.begin() + layer.end,
                                         block.low[1] - layer.most_rows, {}, first_row);
            for (std::ptrdiff_t b = std::max(a + 1, begin - blocks_.begin());
                 b < layer.end && blocks_[static_cast<std::size_t>(b)].low[1] <= block.high[1];
                 ++b) {
                const std::optional<BlockPair> pair =
                    meeting(blocks_, static_cast<int>(a), static_cast<int>(b));
                if (!pair)
                    continue;
                pairs_.push_back(*pair);
                if (pair->axis < 0) {
                    rivals_[static_cast<std::size_t>(a)].push_back(static_cast<int>(b));
                    rivals_[static_cast<std::size_t>(b)].push_back(static_cast<int>(a));
                }
            }
        }
    }
}

void BlockCover::owned(int block, Elements z, Elements y, std::vector<VoxelRun>& runs) const {
    const VolumeBox& own = blocks_[static_cast<std::size_t>(block)];
    runs.assign(1, {own.low[2], own.high[2]});
    const RowDepth depth(own, z, y);
    std::vector<VoxelRun> left;
    for (const int rival : rivals_[static_cast<std::size_t>(block)]) {
        const VolumeBox& other = blocks_[static_cast<std::size_t>(rival)];
        if (!other.has_row(z, y))
            continue;
        const RowDepth others(other, z, y);
        const auto loses = [&](Elements x) {
            const auto a = depth.at(x), b = others.at(x);
            return rival < block ? b >= a : b > a;
        };
        left.clear();
        for (const VoxelRun& run : runs) {
            const Elements from = std::clamp(other.low[2], run.begin, run.end),
                           to = std::clamp(other.high[2], run.begin, run.end);
            Elements begin = run.begin;
            for (Elements x = from; x < to; ++x) {
                if (!loses(x))
                    continue;
                if (x > begin)
                    left.push_back({begin, x});
                begin = x + 1;
            }
            if (begin < run.end)
                left.push_back({begin, run.end});
        }
        std::swap(runs, left);
    }
}

bool BlockCover::owns(int block, Elements z, Elements y, Elements x) const {
    const RowDepth depth(blocks_[static_cast<std::size_t>(block)], z, y);
    return std::ranges::none_of(rivals_[static_cast<std::size_t>(block)], [&](int rival) {
        const VolumeBox& other = blocks_[static_cast<std::size_t>(rival)];
        if (!other.has_row(z, y) || x < other.low[2] || x >= other.high[2])
            return false;
        const auto a = depth.at(x), b = RowDepth(other, z, y).at(x);
        return rival < block ? b >= a : b > a;
    });
}

std::optional<VolumeBox> BlockCover::gap(const VolumeShape& volume) const {
    std::vector<const VolumeBox*> all;
    for (const VolumeBox& block : blocks_)
        all.push_back(&block);
    const std::vector<Elements> planes = cuts_of(all, 0, volume.depth);
    for (std::size_t i = 0; i + 1 < planes.size(); ++i) {
        const std::vector<const VolumeBox*> layer = blocks_at(all, 0, planes[i]);
        const std::vector<Elements> rows = cuts_of(layer, 1, volume.height);
        for (std::size_t j = 0; j + 1 < rows.size(); ++j) {
            std::vector<const VolumeBox*> line = blocks_at(layer, 1, rows[j]);
            std::ranges::sort(line, {}, [](const VolumeBox* block) { return block->low[2]; });
            Elements covered = 0;
            for (const VolumeBox* block : line) {
                if (block->low[2] > covered)
                    return VolumeBox{{planes[i], rows[j], covered},
                                     {planes[i + 1], rows[j + 1], block->low[2]}};
                covered = std::max(covered, block->high[2]);
            }
            if (covered < volume.width)
                return VolumeBox{{planes[i], rows[j], covered},
                                 {planes[i + 1], rows[j + 1], volume.width}};
        }
    }
    return std::nullopt;
}

void PairCounts::add(const std::uint32_t* a, const std::uint32_t* b, Elements voxels) {
    for (Elements begin = 0; begin < voxels;) {
        const std::uint32_t first = a[begin], second = b[begin];
        Elements end = begin + 1;
        while (end < voxels && a[end] == first && b[end] == second)
            ++end;
        if (first != 0 || second != 0)
            counts_[std::uint64_t{first} << 32 | second] += end - begin;
        begin = end;
    }
}

std::vector<LabelMatch> matches_of(std::span<const PairCount> counts, int block_a, int block_b) {
    std::unordered_map<std::uint64_t, Elements> voxels_of_a, voxels_of_b;
    for (const PairCount& count : counts) {
        voxels_of_a[count.a] += count.voxels;
        voxels_of_b[count.b] += count.voxels;
    }
    std::vector<LabelMatch> matches;
    for (const PairCount& count : counts) {
        if (count.a == 0 || count.b == 0)
            continue;
        const Elements either = voxels_of_a[count.a] + voxels_of_b[count.b] - count.voxels;
        matches.push_back({block_a, block_b, count.a, count.b, count.voxels, either});
    }
    return matches;
}

ObjectJoins::ObjectJoins(std::span<const int> block_of) : block_of_(block_of) {
    objects_.add(std::ssize(block_of));
}

void ObjectJoins::sort_best_first(std::vector<LabelMatch>& matches, MatchScore score) {
    const auto key = [score](const LabelMatch& match) {
        return std::tuple(-value(match, score), match.block_a, match.block_b, match.a, match.b);
    };
    std::ranges::sort(matches, {}, key);
}

std::vector<int>& ObjectJoins::blocks_of(Label object) {
    std::vector<int>& blocks = blocks_[object];
    if (blocks.empty())
        blocks.push_back(block_of_[static_cast<std::size_t>(object)]);
    return blocks;
}

MatchOutcome ObjectJoins::join(Elements a, Elements b) {
    const Label first = objects_.root(a), second = objects_.root(b);
    if (first == second)
        return MatchOutcome::joined;
    const auto [less, more] = [&] {
        std::vector<int>*x = &blocks_of(first), *y = &blocks_of(second);
        return x->size() < y->size() ? std::pair(x, y) : std::pair(y, x);
    }();
    if (std::ranges::any_of(
            *less, [many = more](int block) { return std::ranges::binary_search(*many, block); }))
        return MatchOutcome::conflict;
    for (const int block : *less)
        more->insert(std::ranges::lower_bound(*more, block), block);
    std::vector<int> all = std::move(*more);
    blocks_.erase(first);
    blocks_.erase(second);
    objects_.join(first, second);
    blocks_[objects_.root(first)] = std::move(all);
    return MatchOutcome::joined;
}

} // namespace sextant::kernel
