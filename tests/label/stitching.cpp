// SPDX-License-Identifier: BSD-3-Clause
// Segmentations of blocks that are joined, on threads, compared with the definition.
#include "sextant/label/stitching.hpp"

#include "sextant/comm/threads.hpp"

#include "tests/support/agreed_failure.hpp"
#include "tests/support/flood_fill.hpp"
#include "tests/support/stitch_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::MatchOutcome;
using kernel::MatchScore;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Label>
LabelBlock block_of(const std::vector<Label>& labels, Sample sample, std::array<Elements, 3> sides,
                    std::array<Elements, 3> position, std::string name = "block") {
    return {std::move(name), position, [&labels, sample, sides] {
                FrameHeader header;
                header.frames = sides[0];
                header.shape = {sides[2], sides[1]};
                header.sample = sample;
                return std::make_unique<MemoryFrames>(header, std::as_bytes(std::span(labels)));
            }};
}

struct Stitched {
    std::vector<ObjectNumber> labels;
    StitchResult result;
};

Stitched stitch(std::vector<LabelBlock> blocks, const StitchOptions& options = {}, int ranks = 1) {
    Stitched made;
    run_threads(ranks, [&](Communicator communicator) {
        std::vector<ObjectNumber> labels;
        StitchResult result = stitched(communicator, options, blocks, labels);
        if (communicator.rank() == 0)
            made = {std::move(labels), std::move(result)};
    });
    return made;
}

TEST(Stitching, random_blocks_are_stitched_as_defined_on_all_ranks) {
    for (const int ranks : {1, 2, 3, 5, 7})
        run_threads(ranks, [](Communicator communicator) {
            stitching_equals_the_definition(communicator, 24);
        });
}

TEST(Stitching, cases_have_conflicts_dropped_and_clipped_labels) {
    Elements joined = 0, conflicts = 0, below = 0, dropped = 0, clipped = 0;
    for (unsigned turn = 0; turn < 24; ++turn) {
        std::mt19937 random(turn);
        const StitchCase what = random_balls(random, turn % 4 == 0);
        const Stitched made = stitch(sources_of(what));
        joined += made.result.joined;
        conflicts += made.result.conflicts;
        below += made.result.below;
        dropped += made.result.dropped;
        clipped += made.result.clipped;
    }
    EXPECT_GT(joined, 1000);
    EXPECT_GT(conflicts, 10);
    EXPECT_GT(below, 400);
    EXPECT_GT(dropped, 30);
    EXPECT_GT(clipped, 10);
}

TEST(Stitching, without_overlap_convex_objects_are_the_connected_components) {
    std::mt19937 random(11);
    for (int turn = 0; turn < 20; ++turn) {
        // Boxes at a distance, in a volume that is cut into blocks.
        const kernel::VolumeShape shape{12, 20, 30};
        std::vector<std::uint8_t> is_inside(static_cast<std::size_t>(shape.elements()), 0);
        for (Elements z = 0; z < shape.depth; ++z)
            for (Elements y = 0; y < shape.height; ++y)
                for (Elements x = 0; x < shape.width; ++x)
                    if (z % 6 != 5 && y % 7 != 6 && x % 10 != 9)
                        is_inside[static_cast<std::size_t>((z * shape.height + y) * shape.width +
                                                           x)] = 1;
        const kernel::Connection connection{kernel::Neighbours::six, kernel::Sameness::foreground};
        const std::vector<kernel::Label> expected = flooded(is_inside, shape, connection);
        StitchOptions options;
        options.block = {1 + static_cast<Elements>(random() % 8),
                         1 + static_cast<Elements>(random() % 25),
                         static_cast<Elements>(random() % 12)};
        options.by = MatchScore::voxels;
        // Within a block, labels are the components of all, mapped in an order of the block.
        std::vector<std::int64_t> labels;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const Elements at = static_cast<Elements>(i), width = shape.width;
            const Elements block = at / width / shape.height / options.block[0] +
                                   at / width % shape.height / options.block[1] +
                                   (options.block[2] == 0 ? 0 : at % width / options.block[2]);
            labels.push_back(expected[i] == 0 ? 0 : (expected[i] * 7 + block * 5) % 97 + 1);
        }
        for (const int ranks : {1, 4}) {
            const Stitched made =
                stitch({block_of(labels, Sample::i64, {12, 20, 30}, {0, 0, 0})}, options, ranks);
            ASSERT_TRUE(std::ranges::equal(made.labels, expected)) << turn;
            EXPECT_EQ(made.result.conflicts, 0);
        }
    }
}

TEST(Stitching, a_chain_does_not_give_an_object_two_labels_of_one_block) {
    // Blocks of 6 that overlap by 4: the second sees one object where the others see two.
    const std::vector<std::uint8_t> a = {0, 1, 1, 1, 2, 2}, b = {1, 1, 1, 1, 1, 0};
    StitchOptions options;
    options.threshold = .3;
    const Stitched made = stitch({block_of(a, Sample::u8, {1, 1, 6}, {0, 0, 0}),
                                  block_of(b, Sample::u8, {1, 1, 6}, {0, 0, 2})},
                                 options);
    ASSERT_EQ(made.result.matches.size(), 2U);
    EXPECT_EQ(made.result.matches[0].outcome, MatchOutcome::joined); // 2 of 4 voxels, label 1
    EXPECT_EQ(made.result.matches[1].outcome, MatchOutcome::conflict);
    EXPECT_EQ(made.result.matches[1].a, 2U);
    EXPECT_DOUBLE_EQ(made.result.matches[1].iou(), .5);
    // The overlap is cut in the middle.
    EXPECT_THAT(made.labels, ElementsAre(0, 1, 1, 1, 1, 1, 1, 0));
    EXPECT_EQ(made.result.dropped, 1);
}

TEST(Stitching, planes_that_were_segmented_one_by_one_become_bodies) {
    const std::vector<std::uint16_t> planes = {5, 5, 5, 0, 0, 9, //
                                               3, 3, 3, 3, 0, 1, //
                                               7, 0, 0, 2, 2, 2};
    StitchOptions options;
    options.block = {1, 0, 0};
    const Stitched made = stitch({block_of(planes, Sample::u16, {3, 1, 6}, {0, 0, 0})}, options, 2);
    EXPECT_THAT(made.labels, ElementsAre(1, 1, 1, 0, 0, 2, 1, 1, 1, 1, 0, 2, 3, 0, 0, 4, 4, 4));
    options.threshold = .25;
    const Stitched more = stitch({block_of(planes, Sample::u16, {3, 1, 6}, {0, 0, 0})}, options, 2);
    EXPECT_THAT(more.labels, ElementsAre(1, 1, 1, 0, 0, 2, 1, 1, 1, 1, 0, 2, 1, 0, 0, 2, 2, 2));
}

TEST(Stitching, large_labels_are_exact) {
    constexpr std::uint64_t large = std::uint64_t{1} << 63;
    const std::vector<std::uint64_t> a = {large, large + 1, large + 1},
                                     b = {large + 1, large + 1, large};
    StitchOptions options;
    options.block = {1, 1, 3};
    const Stitched made = stitch({block_of(a, Sample::u64, {1, 1, 3}, {0, 0, 0}),
                                  block_of(b, Sample::u64, {1, 1, 3}, {0, 0, 1})},
                                 options);
    EXPECT_THAT(made.labels, ElementsAre(1, 2, 2, 3));
    EXPECT_EQ(made.result.table.back().label, large);
}

TEST(Stitching, gaps_are_background_if_they_are_allowed) {
    const std::vector<std::uint8_t> a = {4, 4}, b = {4, 4};
    StitchOptions options;
    options.allow_gaps = true;
    options.size = {1, 1, 7};
    const Stitched made = stitch({block_of(b, Sample::u8, {1, 1, 2}, {0, 0, 4}),
                                  block_of(a, Sample::u8, {1, 1, 2}, {0, 0, 1})},
                                 options);
    EXPECT_THAT(made.labels, ElementsAre(0, 1, 1, 0, 2, 2, 0));
}

TEST(Stitching, invalid_blocks_are_refused) {
    const std::vector<std::uint8_t> labels(24, 1);
    const std::vector<float> floats(24, 1);
    const std::vector<std::int16_t> negative = {1, -1, 2, 2};
    const auto at = [&](std::array<Elements, 3> position, std::string name) {
        return block_of(labels, Sample::u8, {2, 3, 4}, position, std::move(name));
    };
    const auto refuses = [](const std::vector<LabelBlock>& blocks, const char* text,
                            const StitchOptions& options = {}) {
        EXPECT_THAT([&] { stitch(blocks, options, 2); },
                    ThrowsMessage<std::exception>(HasSubstr(text)))
            << text;
    };
    refuses({}, "no blocks");
    refuses(
        {at({0, 0, 0}, "one"), at({0, 0, 5}, "two")},
        "no block contains the voxels z 0 to 1, y 0 to 2, x 4 to 4 of 2x3x9; the preceding block "
        "is one (z 0 to 1, y 0 to 2, x 0 to 3)");
    refuses({at({0, 0, 0}, "one"), at({2, 1, 0}, "two")},
            "no block contains the voxels z 0 to 1, y 3 to 3, x 0 to 3");
    refuses({at({1, 0, 0}, "one")}, "no block contains the voxels z 0 to 0, y 0 to 2, x 0 to 3");
    refuses({at({0, 0, 0}, "one"), at({0, 0, 0}, "two")},
            "one and two have the same position: z 0, y 0, x 0");
    refuses({at({0, 0, 0}, "one"), at({0, -1, 0}, "two")}, "two: y is -1, expected 0");
    refuses({block_of(floats, Sample::f32, {2, 3, 4}, {0, 0, 0}, "one")},
            "one: holds f32, expected labels");
    refuses({block_of(negative, Sample::i16, {1, 2, 2}, {0, 0, 0}, "one")},
            "one: label -1 in plane 0, row 0, expected 0 or more");
    StitchOptions options;
    options.threshold = 2;
    refuses({at({0, 0, 0}, "one")}, "threshold: an IoU of 2", options);
    options = {};
    options.memory = 3;
    refuses({at({0, 0, 0}, "one")}, "memory: 1 bytes for each rank are too few, expected 16",
            options);
    options = {};
    options.size = {2, 3, 3};
    refuses({at({0, 0, 0}, "one")}, "size: one ends at x 4, expected 3 or less", options);
    options.size = {2, 3, 5};
    refuses({at({0, 0, 0}, "one")}, "no block contains the voxels z 0 to 1, y 0 to 2, x 4 to 4",
            options);
    options.size = {2, 3};
    refuses({at({0, 0, 0}, "one")}, "size: 2 numbers", options);
}

TEST(Stitching, ranks_with_other_blocks_are_refused) {
    const std::vector<std::uint8_t> labels(24, 1);
    run_threads(3, [&](Communicator communicator) {
        const Elements rows = communicator.rank() == 2 ? 2 : 3;
        std::vector<ObjectNumber> written;
        EXPECT_THAT(
            [&] {
                stitched(communicator, {},
                         {block_of(labels, Sample::u8, {12 / rows, rows, 2}, {0, 0, 0})}, written);
            },
            ThrowsMessage<AgreedFailure>(HasSubstr("rank 2 has different blocks from rank 0")));
    });
}

TEST(Stitching, cancellation_ends_all_ranks) {
    const std::vector<std::uint8_t> labels(24, 1);
    for (const int steps : {0, 1, 2}) {
        run_threads(2, [&](Communicator communicator) {
            int calls = 0;
            const Stitching stitching(communicator, {}, {.cancelled = [&] {
                                          return communicator.rank() == 1 && calls++ == steps;
                                      }});
            label::LabelBlocks blocks =
                stitching.open({block_of(labels, Sample::u8, {2, 3, 4}, {0, 0, 0})});
            EXPECT_THROW(stitching.stitch(blocks, [](std::span<const ObjectNumber>) {}), Cancelled);
        });
    }
}

TEST(Stitching, blocks_that_change_are_refused) {
    std::vector<std::uint8_t> labels(24, 1);
    for (const int change : {0, 1, 2}) {
        int opened = 0;
        const std::vector<std::uint8_t> other(24, change == 0 ? 2 : 0);
        // Between two volumes, each is opened again for the second reading.
        std::vector<LabelBlock> blocks = {
            block_of(labels, Sample::u8, {2, 3, 4}, {0, 0, 0}, "one"),
            block_of(labels, Sample::u8, {2, 3, 4}, {0, 0, 4}, "two")};
        blocks[0].open = [&, first = blocks[0].open] {
            FrameHeader header = first()->header();
            if (++opened < 3)
                return first();
            if (change == 2)
                header.shape = {3, 4};
            return std::unique_ptr<FrameSource>(
                std::make_unique<MemoryFrames>(header, std::as_bytes(std::span(other))));
        };
        EXPECT_THAT([&] { stitch(blocks); },
                    ThrowsMessage<AgreedFailure>(
                        testing::AllOf(HasSubstr("one"), HasSubstr("has changed while"))));
    }
}

} // namespace
} // namespace sextant::test
