// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/memory_frames.hpp"
#include "sextant/label/stitching.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

// Stitching of blocks on any communicator, compared with a serial reference that follows the
// definition voxel by voxel.
namespace sextant::test {

using Voxel = std::array<Elements, 3>;

/// A block with its labels, and its position.
struct TestBlock {
    Voxel position{};
    kernel::VolumeShape shape;
    std::vector<std::uint16_t> labels;

    bool has(const Voxel& at) const {
        return at[0] >= position[0] && at[0] < position[0] + shape.depth && at[1] >= position[1] &&
               at[1] < position[1] + shape.height && at[2] >= position[2] &&
               at[2] < position[2] + shape.width;
    }
    std::size_t index(const Voxel& at) const {
        return static_cast<std::size_t>(
            ((at[0] - position[0]) * shape.height + at[1] - position[1]) * shape.width + at[2] -
            position[2]);
    }
    std::uint16_t label(const Voxel& at) const { return labels[index(at)]; }
};

struct StitchCase {
    kernel::VolumeShape shape;
    std::vector<TestBlock> blocks; // in the order of positions

    template <class Take>
    void each_voxel(const Take& take) const {
        for (Elements z = 0; z < shape.depth; ++z)
            for (Elements y = 0; y < shape.height; ++y)
                for (Elements x = 0; x < shape.width; ++x)
                    take(Voxel{z, y, x},
                         static_cast<std::size_t>((z * shape.height + y) * shape.width + x));
    }
};

/// The blocks as sources in memory, which refer to the case.
inline std::vector<LabelBlock> sources_of(const StitchCase& what) {
    std::vector<LabelBlock> blocks;
    for (const TestBlock& block : what.blocks)
        blocks.push_back({"block " + std::to_string(blocks.size()), block.position, [&block] {
                              FrameHeader header;
                              header.frames = block.shape.depth;
                              header.shape = {block.shape.width, block.shape.height};
                              header.sample = Sample::u16;
                              return std::make_unique<MemoryFrames>(
                                  header, std::as_bytes(std::span(block.labels)));
                          }});
    return blocks;
}

/// Intervals of random lengths that cover [0, side), with random overlaps.
inline std::vector<std::array<Elements, 2>> random_cover(Elements side, std::mt19937& random) {
    std::vector<std::array<Elements, 2>> cover;
    for (Elements begin = 0, end = 0; end < side;) {
        end = std::min(side, begin + 4 + static_cast<Elements>(random() % 7));
        cover.push_back({begin, end});
        begin = end - static_cast<Elements>(random() % 4);
    }
    return cover;
}

/// Balls that each block sees a little differently, and labels in an order of its own. Some balls
/// that a block cannot tell apart have one label, and some have two.
inline StitchCase random_balls(std::mt19937& random, bool is_image) {
    StitchCase made;
    const auto side = [&] { return 6 + static_cast<Elements>(random() % 12); };
    made.shape = {is_image ? 1 : side(), side(), side()};
    struct Ball {
        Voxel centre;
        double radius;
    };
    std::vector<Ball> balls;
    for (int i = 0; i < 12; ++i)
        balls.push_back({{static_cast<Elements>(random()) % made.shape.depth,
                          static_cast<Elements>(random()) % made.shape.height,
                          static_cast<Elements>(random()) % made.shape.width},
                         1 + .1 * static_cast<double>(random() % 35)});
    for (const auto& [z, z_end] : random_cover(made.shape.depth, random))
        for (const auto& [y, y_end] : random_cover(made.shape.height, random))
            for (const auto& [x, x_end] : random_cover(made.shape.width, random))
                made.blocks.push_back({{z, y, x}, {z_end - z, y_end - y, x_end - x}, {}});
    // A block that does not belong to the grid.
    Voxel corner;
    const std::array<Elements, 3> sides = {made.shape.depth, made.shape.height, made.shape.width};
    for (std::size_t axis = 0; axis < 3; ++axis)
        corner[axis] = static_cast<Elements>(random()) % sides[axis];
    if (std::ranges::find(made.blocks, corner, &TestBlock::position) == made.blocks.end())
        made.blocks.push_back({corner,
                               {std::min<Elements>(5, sides[0] - corner[0]),
                                std::min<Elements>(6, sides[1] - corner[1]),
                                std::min<Elements>(7, sides[2] - corner[2])},
                               {}});
    std::ranges::sort(made.blocks, {}, &TestBlock::position);
    for (TestBlock& block : made.blocks) {
        block.labels.resize(static_cast<std::size_t>(block.shape.elements()));
        std::vector<std::uint16_t> names(3 * balls.size());
        std::iota(names.begin(), names.end(), std::uint16_t{1});
        std::ranges::shuffle(names, random);
        if (random() % 2 == 0)
            names[0] = names[1];
        std::vector<double> radii;
        for (const Ball& ball : balls)
            radii.push_back(ball.radius + .1 * static_cast<double>(random() % 5));
        const std::size_t halved = random() % (2 * balls.size());
        made.each_voxel([&](const Voxel& at, std::size_t) {
            if (!block.has(at))
                return;
            for (std::size_t i = 0; i < balls.size(); ++i) {
                double square = 0;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    square += std::pow(static_cast<double>(at[axis] - balls[i].centre[axis]), 2);
                if (square > radii[i] * radii[i])
                    continue;
                const bool second = i == halved && at[2] > balls[i].centre[2];
                block.labels[block.index(at)] = names[i + (second ? balls.size() : 0)];
            }
        });
    }
    return made;
}

/// The result by the definition.
struct StitchReference {
    std::vector<ObjectNumber> labels;
    std::vector<kernel::LabelMatch> matches;
    std::map<std::tuple<int, std::uint64_t>, StitchedLabel> table;
    ObjectNumber objects = 0;
};

/// The number of the block to which a voxel belongs.
inline int owner_of(const StitchCase& what, const Voxel& at) {
    int owner = -1;
    Voxel deepest{};
    for (std::size_t i = 0; i < what.blocks.size(); ++i) {
        const TestBlock& block = what.blocks[i];
        if (!block.has(at))
            continue;
        const Voxel sides = {block.shape.depth, block.shape.height, block.shape.width};
        Voxel depth;
        for (std::size_t axis = 0; axis < 3; ++axis)
            depth[axis] = std::min(at[axis] - block.position[axis],
                                   block.position[axis] + sides[axis] - 1 - at[axis]);
        std::ranges::sort(depth);
        if (owner < 0 || depth > deepest) {
            owner = static_cast<int>(i);
            deepest = depth;
        }
    }
    return owner;
}

inline StitchReference stitch_reference(const StitchCase& what, kernel::MatchScore by,
                                        double threshold) {
    StitchReference result;
    const int blocks = static_cast<int>(what.blocks.size());
    const auto block_at = [&](int i) -> const TestBlock& {
        return what.blocks[static_cast<std::size_t>(i)];
    };
    std::map<Voxel, int> owners;
    what.each_voxel([&](const Voxel& at, std::size_t) { owners[at] = owner_of(what, at); });
    for (int a = 0; a < blocks; ++a) {
        for (int b = a + 1; b < blocks; ++b) {
            std::map<std::array<std::uint64_t, 2>, Elements> counts;
            bool overlap = false;
            what.each_voxel([&](const Voxel& at, std::size_t) {
                if (!block_at(a).has(at) || !block_at(b).has(at))
                    return;
                overlap = true;
                ++counts[{block_at(a).label(at), block_at(b).label(at)}];
            });
            what.each_voxel([&](const Voxel& at, std::size_t) {
                if (overlap || owners[at] != a)
                    return;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    for (const Elements step : {-1, 1}) {
                        Voxel other = at;
                        other[axis] += step;
                        const auto owner = owners.find(other);
                        if (owner != owners.end() && owner->second == b)
                            ++counts[{block_at(a).label(at), block_at(b).label(other)}];
                    }
                }
            });
            for (const auto& [labels, shared] : counts) {
                if (labels[0] == 0 || labels[1] == 0)
                    continue;
                Elements either = 0;
                for (const auto& [others, voxels] : counts)
                    either += others[0] == labels[0] || others[1] == labels[1] ? voxels : 0;
                result.matches.push_back({a, b, labels[0], labels[1], shared, either});
            }
        }
    }
    const auto score = [&](const kernel::LabelMatch& match) {
        return by == kernel::MatchScore::iou ? match.iou() : static_cast<double>(match.voxels);
    };
    std::ranges::stable_sort(result.matches, std::ranges::greater{}, score);
    using Name = std::tuple<int, std::uint64_t>;
    std::map<Name, std::set<Name>> objects; // of each label: all labels of its object
    for (int i = 0; i < blocks; ++i)
        for (const std::uint16_t label : block_at(i).labels)
            if (label != 0)
                objects[{i, label}] = {{i, label}};
    for (kernel::LabelMatch& match : result.matches) {
        if (score(match) < threshold)
            continue;
        const std::set<Name> first = objects[{match.block_a, match.a}],
                             second = objects[{match.block_b, match.b}];
        match.outcome = kernel::MatchOutcome::joined;
        if (first == second)
            continue;
        std::set<int> seen;
        std::set<Name> all = first;
        all.insert(second.begin(), second.end());
        for (const Name& name : all)
            if (!seen.insert(std::get<0>(name)).second)
                match.outcome = kernel::MatchOutcome::conflict;
        if (match.outcome == kernel::MatchOutcome::joined)
            for (const Name& name : all)
                objects[name] = all;
    }
    for (const auto& [name, object] : objects)
        result.table[name] = {0, std::get<0>(name), std::get<1>(name)};
    for (int i = 0; i < blocks; ++i)
        for (const std::uint16_t label : block_at(i).labels)
            if (label != 0)
                ++result.table[{i, label}].voxels;
    what.each_voxel([&](const Voxel& at, std::size_t) {
        const int owner = owners[at];
        const std::uint64_t label = owner < 0 ? 0 : block_at(owner).label(at);
        if (label == 0) {
            result.labels.push_back(0);
            return;
        }
        StitchedLabel& own = result.table[{owner, label}];
        ++own.kept;
        if (own.number == 0) {
            ++result.objects;
            for (const Name& name : objects[{owner, label}])
                result.table[name].number = result.objects;
        }
        result.labels.push_back(own.number);
    });
    return result;
}

/// Stitches a case in which the blocks are given in some order; the labels are on rank 0.
inline StitchResult stitched(const Communicator& communicator, const StitchOptions& options,
                             std::vector<LabelBlock> blocks, std::vector<ObjectNumber>& labels) {
    const Stitching stitching(communicator, options);
    label::LabelBlocks opened = stitching.open(std::move(blocks));
    return stitching.stitch(opened, [&](std::span<const ObjectNumber> rows) {
        labels.insert(labels.end(), rows.begin(), rows.end());
    });
}

/// Expects the result of the definition, on any number of ranks and for any memory and order.
inline void stitching_equals_the_definition(const Communicator& communicator, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
        std::mt19937 random(static_cast<unsigned>(turn));
        const StitchCase what = random_balls(random, turn % 4 == 0);
        StitchOptions options;
        constexpr double thresholds[] = {.2, .5, .9};
        options.by = turn % 2 == 0 ? kernel::MatchScore::iou : kernel::MatchScore::voxels;
        options.threshold = turn % 2 == 0 ? thresholds[turn / 2 % 3] : 1 + turn % 5;
        const StitchReference expected = stitch_reference(what, options.by, *options.threshold);
        std::vector<LabelBlock> blocks = sources_of(what);
        for (const bool in_strips : {false, true}) {
            if (in_strips) // some rows of the voxels of all blocks
                options.memory = communicator.size() * what.shape.width * 4 * 64;
            std::ranges::shuffle(blocks, random);
            std::vector<ObjectNumber> labels;
            const StitchResult result = stitched(communicator, options, blocks, labels);
            EXPECT_EQ(result.objects, expected.objects) << turn;
            EXPECT_EQ(result.labels, std::ssize(expected.table)) << turn;
            const auto count = [&](kernel::MatchOutcome outcome) {
                return std::ranges::count(expected.matches, outcome, &kernel::LabelMatch::outcome);
            };
            EXPECT_EQ(result.joined, count(kernel::MatchOutcome::joined)) << turn;
            EXPECT_EQ(result.conflicts, count(kernel::MatchOutcome::conflict)) << turn;
            EXPECT_EQ(result.below, count(kernel::MatchOutcome::below)) << turn;
            if (communicator.rank() != 0)
                continue;
            ASSERT_EQ(labels, expected.labels) << turn << ": on " << communicator.size();
            ASSERT_EQ(result.matches.size(), expected.matches.size());
            for (std::size_t i = 0; i < result.matches.size(); ++i) {
                const auto key = [](const kernel::LabelMatch& match) {
                    return std::tuple(match.block_a, match.block_b, match.a, match.b, match.voxels,
                                      match.either, match.outcome);
                };
                ASSERT_EQ(key(result.matches[i]), key(expected.matches[i])) << turn << ": " << i;
            }
            Elements dropped = 0, clipped = 0;
            std::map<ObjectNumber, int> members;
            for (const auto& [name, label] : expected.table)
                ++members[label.number];
            for (const StitchedLabel& label : result.table) {
                const StitchedLabel& other = expected.table.at({label.block, label.label});
                ASSERT_EQ(std::tuple(label.number, label.voxels, label.kept),
                          std::tuple(other.number, other.voxels, other.kept))
                    << turn << ": label " << label.label << " of block " << label.block;
                dropped += label.number == 0 ? 1 : 0;
                clipped +=
                    label.number != 0 && label.kept < label.voxels && members[label.number] == 1
                        ? 1
                        : 0;
            }
            EXPECT_EQ(result.dropped, dropped);
            EXPECT_EQ(result.clipped, clipped);
        }
    }
}

} // namespace sextant::test
