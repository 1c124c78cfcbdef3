// SPDX-License-Identifier: BSD-3-Clause
// Blocks that cover a volume: to which block a voxel belongs, where blocks meet, gaps; and labels
// of blocks that are joined into objects.
#include "sextant/kernel/label/blocks.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::BlockCover;
using kernel::LabelMatch;
using kernel::MatchOutcome;
using kernel::MatchScore;
using kernel::VolumeBox;
using kernel::VolumeShape;

std::vector<VolumeBox> random_boxes(std::mt19937& random, const VolumeShape& shape, int count) {
    std::vector<VolumeBox> boxes;
    const std::array<Elements, 3> sides = {shape.depth, shape.height, shape.width};
    for (int i = 0; i < count; ++i) {
        VolumeBox box;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            box.low[axis] = static_cast<Elements>(random()) % sides[axis];
            box.high[axis] =
                box.low[axis] + 1 + static_cast<Elements>(random()) % (sides[axis] - box.low[axis]);
        }
        boxes.push_back(box);
    }
    std::ranges::sort(boxes, {}, &VolumeBox::low);
    const auto same = std::ranges::unique(boxes, {}, &VolumeBox::low);
    boxes.erase(same.begin(), same.end());
    return boxes;
}

bool has(const VolumeBox& box, Elements z, Elements y, Elements x) {
    return box.has_row(z, y) && x >= box.low[2] && x < box.high[2];
}

TEST(BlockCover, overlaps_of_a_grid_are_cut_in_the_middle) {
    // The last block is smaller than the others.
    const BlockCover cover(
        {{{0, 0, 0}, {1, 4, 10}}, {{0, 0, 4}, {1, 4, 17}}, {{0, 0, 14}, {1, 4, 20}}});
    std::vector<kernel::VoxelRun> runs;
    const Elements cuts[] = {0, 7, 16, 20};
    for (const Elements y : {0, 1, 3}) {
        for (int block = 0; block < 3; ++block) {
            cover.owned(block, 0, y, runs);
            ASSERT_EQ(runs.size(), 1U);
            EXPECT_EQ(runs[0].begin, cuts[block]);
            EXPECT_EQ(runs[0].end, cuts[block + 1]);
        }
    }
    EXPECT_EQ(cover.pairs().size(), 2U);
}

TEST(BlockCover, each_voxel_belongs_to_one_block_that_contains_it) {
    std::mt19937 random(5);
    for (int turn = 0; turn < 50; ++turn) {
        const VolumeShape shape{5, 7, 9};
        const std::vector<VolumeBox> boxes = random_boxes(random, shape, 1 + turn % 9);
        const BlockCover cover(boxes);
        std::vector<kernel::VoxelRun> runs;
        std::optional<std::array<Elements, 3>> first_gap;
        for (Elements z = 0; z < shape.depth; ++z) {
            for (Elements y = 0; y < shape.height; ++y) {
                std::vector<int> owners(static_cast<std::size_t>(shape.width), 0);
                for (std::size_t block = 0; block < boxes.size(); ++block) {
                    if (!boxes[block].has_row(z, y))
                        continue;
                    cover.owned(static_cast<int>(block), z, y, runs);
                    for (const kernel::VoxelRun& run : runs) {
                        for (Elements x = run.begin; x < run.end; ++x) {
                            ASSERT_TRUE(has(boxes[block], z, y, x));
                            ASSERT_TRUE(cover.owns(static_cast<int>(block), z, y, x));
                            ++owners[static_cast<std::size_t>(x)];
                        }
                    }
                }
                for (Elements x = 0; x < shape.width; ++x) {
                    const bool covered = std::ranges::any_of(
                        boxes, [&](const VolumeBox& box) { return has(box, z, y, x); });
                    ASSERT_EQ(owners[static_cast<std::size_t>(x)], covered ? 1 : 0);
                    if (!covered && !first_gap)
                        first_gap = {z, y, x};
                }
            }
        }
        const std::optional<VolumeBox> gap = cover.gap(shape);
        ASSERT_EQ(gap.has_value(), first_gap.has_value());
        if (!gap)
            continue;
        EXPECT_EQ(gap->low, *first_gap);
        for (Elements z = gap->low[0]; z < gap->high[0]; ++z)
            for (Elements y = gap->low[1]; y < gap->high[1]; ++y)
                for (Elements x = gap->low[2]; x < gap->high[2]; ++x)
                    ASSERT_TRUE(std::ranges::none_of(
                        boxes, [&](const VolumeBox& box) { return has(box, z, y, x); }));
    }
}

TEST(BlockCover, blocks_meet_in_overlaps_and_at_faces_but_not_at_edges) {
    // A block; its neighbour below; one to the right of both; one that touches an edge only.
    const BlockCover cover({{{0, 0, 0}, {2, 4, 4}},
                            {{0, 2, 4}, {2, 9, 6}},
                            {{1, 4, 0}, {3, 8, 4}},
                            {{2, 0, 4}, {3, 2, 5}}});
    ASSERT_EQ(cover.pairs().size(), 3U);
    EXPECT_EQ(cover.pairs()[0].axis, 2); // 0 and 1
    EXPECT_TRUE((cover.pairs()[0].box == VolumeBox{{0, 2, 4}, {2, 4, 5}}));
    EXPECT_EQ(cover.pairs()[1].axis, 1); // 0 and 2
    EXPECT_TRUE((cover.pairs()[1].box == VolumeBox{{1, 4, 0}, {2, 5, 4}}));
    EXPECT_EQ(cover.pairs()[2].axis, 2); // 1 and 2, which has the lower x
    EXPECT_FALSE(cover.pairs()[2].a_first);
    EXPECT_TRUE((cover.pairs()[2].box == VolumeBox{{1, 4, 4}, {2, 8, 5}}));
}

TEST(BlockCover, all_pairs_of_blocks_that_meet_are_found) {
    std::mt19937 random(8);
    for (int turn = 0; turn < 50; ++turn) {
        const std::vector<VolumeBox> boxes = random_boxes(random, {6, 8, 7}, 2 + turn % 20);
        std::vector<std::pair<int, int>> expected, found;
        for (int a = 0; a < std::ssize(boxes); ++a) {
            for (int b = a + 1; b < std::ssize(boxes); ++b) {
                int touching = 0, apart = 0;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const VolumeBox& first = boxes[static_cast<std::size_t>(a)];
                    const VolumeBox& second = boxes[static_cast<std::size_t>(b)];
                    const Elements side = std::min(first.high[axis], second.high[axis]) -
                                          std::max(first.low[axis], second.low[axis]);
                    touching += side == 0 ? 1 : 0;
                    apart += side < 0 ? 1 : 0;
                }
                if (apart == 0 && touching <= 1)
                    expected.emplace_back(a, b);
            }
        }
        const BlockCover cover(boxes);
        for (const kernel::BlockPair& pair : cover.pairs())
            found.emplace_back(pair.a, pair.b);
        EXPECT_EQ(found, expected) << turn;
    }
}

TEST(LabelMatches, scores_count_where_blocks_meet) {
    kernel::PairCounts counts;
    const std::uint32_t a[] = {1, 1, 1, 0, 2, 0}, b[] = {5, 5, 0, 5, 5, 0};
    counts.add(a, b, 6);
    counts.add(a, b, 1);
    std::vector<kernel::PairCount> all;
    counts.each([&](std::uint32_t first, std::uint32_t second, Elements voxels) {
        all.push_back({first, second, voxels});
    });
    std::ranges::sort(all, {},
                      [](const kernel::PairCount& count) { return std::pair(count.a, count.b); });
    ASSERT_EQ(all.size(), 4U); // 0-5, 1-0, 1-5, 2-5
    const std::vector<LabelMatch> matches = kernel::matches_of(all, 3, 7);
    ASSERT_EQ(matches.size(), 2U);
    EXPECT_EQ(matches[0].voxels, 3);
    EXPECT_EQ(matches[0].either, 6);
    EXPECT_DOUBLE_EQ(matches[0].iou(), .5);
    EXPECT_EQ(matches[1].voxels, 1);
    EXPECT_EQ(matches[1].either, 5);
}

TEST(LabelMatches, the_best_are_joined_first_and_no_object_has_two_labels_of_a_block) {
    // Labels 0 and 1 of block 0, 2 and 3 of block 1, 4 of block 2.
    const std::vector<int> block_of = {0, 0, 1, 1, 2};
    std::vector<LabelMatch> matches = {{0, 1, 1, 2, 2, 10}, {0, 1, 0, 2, 8, 10},
                                       {1, 2, 2, 4, 7, 10}, {1, 2, 3, 4, 6, 10},
                                       {0, 2, 0, 4, 5, 10}, {0, 1, 1, 3, 1, 10}};
    kernel::ObjectJoins objects(block_of);
    objects.join(matches, MatchScore::iou, .2,
                 [](int, std::uint64_t label) { return static_cast<Elements>(label); });
    std::vector<MatchOutcome> outcomes;
    for (const LabelMatch& match : matches)
        outcomes.push_back(match.outcome);
    using enum MatchOutcome;
    // 0-2, 2-4, then 3-4 would join 2 and 3; 0 and 4 are joined already; 1-2 would join 0 and 1.
    EXPECT_THAT(outcomes, testing::ElementsAre(joined, joined, conflict, joined, conflict, below));
    EXPECT_EQ(objects.number(), 3);
    EXPECT_EQ(objects[0], objects[4]);
    EXPECT_EQ(objects[1], 2);
    EXPECT_EQ(objects[3], 3);
}

} // namespace
} // namespace sextant::test
